// Open MPI's fixed decisions of coll/tuned for commutative reductions, the same in 4.1 and 5.0: which algorithm was
// best on average on the clusters of its developers. The table has ours in their place; README.md says which for which.
#include <stdexcept>

#include "rules.hpp"

namespace manynode::collectives {
namespace {

constexpr Line kBarrier[] = {
    {256, kAnyBytes, barrier_dissemination},      {512, kAnyBytes, barrier_tree},
    {1024, kAnyBytes, barrier_dissemination},     {4096, kAnyBytes, barrier_tree},
    {kAnySize, kAnyBytes, barrier_dissemination},
};

constexpr Line kBcast[] = {
    {4, 512, bcast_pipelined_tree},
    {4, 1024, bcast_binomial},
    {4, 32768, bcast_linear},
    {4, 262144, bcast_pipelined_tree},
    {4, 524288, bcast_linear},
    {4, 1048576, bcast_binomial},
    {4, kAnyBytes, bcast_pipelined_tree},
    {8, 64, bcast_pipelined_tree},
    {8, 128, bcast_binomial},
    {8, 2048, bcast_pipelined_tree},
    {8, 8192, bcast_binomial},
    {8, 1048576, bcast_linear},
    {8, kAnyBytes, bcast_pipelined_tree},
    {16, 8, bcast_binomial},
    {16, 64, bcast_pipelined_tree},
    {16, 4096, bcast_binomial},
    {16, 16384, bcast_pipelined_tree},
    {16, 32768, bcast_binomial},
    {16, kAnyBytes, bcast_linear},
    {32, 1048576, bcast_binomial},
    {32, kAnyBytes, bcast_scatter_recursive_doubling},
    {128, kAnyBytes, bcast_binomial},
    {256, 2, bcast_binomial},
    {256, 16384, bcast_pipelined_tree},
    {256, 32768, bcast_linear},
    {256, 65536, bcast_pipelined_tree},
    {256, kAnyBytes, bcast_binomial},
    {1024, 16384, bcast_binomial},
    {1024, 32768, bcast_pipelined_tree},
    {1024, kAnyBytes, bcast_binomial},
    {2048, 524288, bcast_binomial},
    {2048, kAnyBytes, bcast_scatter_recursive_doubling},
    {4096, 262144, bcast_binomial},
    {4096, kAnyBytes, bcast_scatter_recursive_doubling},
    {kAnySize, 8192, bcast_binomial},
    {kAnySize, 16384, bcast_pipelined_tree},
    {kAnySize, 262144, bcast_binomial},
    {kAnySize, kAnyBytes, bcast_scatter_recursive_doubling},
};

constexpr Line kReduce[] = {
    {4, 8, reduce_reduce_scatter_gather}, {4, 32, reduce_binomial},      {4, 262144, reduce_linear},
    {4, kAnyBytes, reduce_binomial},      {8, 262144, reduce_binomial},  {8, 524288, reduce_linear},
    {8, 1048576, reduce_binomial},        {8, kAnyBytes, reduce_linear}, {kAnySize, kAnyBytes, reduce_binomial},
};

constexpr Line kAllreduce[] = {
    {4, 8, allreduce_ring},
    {4, 4096, allreduce_recursive_doubling},
    {4, 8192, allreduce_ring},
    {4, 16384, allreduce_recursive_doubling},
    {4, 262144, allreduce_ring},
    {4, kAnyBytes, allreduce_reduce_scatter_allgather},
    {8, 16, allreduce_ring},
    {8, 8192, allreduce_recursive_doubling},
    {8, kAnyBytes, allreduce_reduce_scatter_allgather},
    {16, 8192, allreduce_recursive_doubling},
    {16, kAnyBytes, allreduce_reduce_scatter_allgather},
    {32, 64, allreduce_ring},
    {32, 4096, allreduce_recursive_doubling},
    {32, kAnyBytes, allreduce_reduce_scatter_allgather},
    {64, 128, allreduce_ring},
    {64, kAnyBytes, allreduce_reduce_scatter_allgather},
    {128, 262144, allreduce_recursive_doubling},
    {128, kAnyBytes, allreduce_reduce_scatter_allgather},
    {256, 131072, allreduce_reduce_bcast},
    {256, 262144, allreduce_recursive_doubling},
    {256, kAnyBytes, allreduce_reduce_scatter_allgather},
    {512, 4096, allreduce_reduce_bcast},
    {512, kAnyBytes, allreduce_reduce_scatter_allgather},
    {2048, 2048, allreduce_reduce_bcast},
    {2048, 16384, allreduce_recursive_doubling},
    {2048, kAnyBytes, allreduce_reduce_scatter_allgather},
    {4096, 2048, allreduce_reduce_bcast},
    {4096, 4096, allreduce_ring},
    {4096, 16384, allreduce_recursive_doubling},
    {4096, kAnyBytes, allreduce_reduce_scatter_allgather},
    {kAnySize, 2048, allreduce_reduce_bcast},
    {kAnySize, 16384, allreduce_ring},
    {kAnySize, 32768, allreduce_recursive_doubling},
    {kAnySize, kAnyBytes, allreduce_reduce_scatter_allgather},
};

constexpr Line kGather[] = {
    {4, 4, gather_linear},
    {4, 32768, gather_binomial},
    {4, 65536, gather_linear},
    {4, 131072, gather_binomial},
    {4, kAnyBytes, gather_linear},
    {8, 1024, gather_binomial},
    {8, 8192, gather_linear},
    {8, 32768, gather_binomial},
    {8, kAnyBytes, gather_linear},
    {256, kAnyBytes, gather_binomial},
    {512, 2048, gather_binomial},
    {512, 8192, gather_linear},
    {512, kAnyBytes, gather_binomial},
    {kAnySize, kAnyBytes, gather_binomial},
};

constexpr Line kAllgather[] = {
    {32, kAnyBytes, allgather_recursive_doubling},
    {64, 1024, allgather_recursive_doubling},
    {64, kAnyBytes, allgather_ring},
    {256, 512, allgather_recursive_doubling},
    {256, kAnyBytes, allgather_ring},
    {512, 32, allgather_recursive_doubling},
    {512, 128, allgather_bruck},
    {512, 1024, allgather_recursive_doubling},
    {512, kAnyBytes, allgather_ring},
    {1024, 64, allgather_recursive_doubling},
    {1024, 256, allgather_bruck},
    {1024, 2048, allgather_recursive_doubling},
    {1024, kAnyBytes, allgather_ring},
    {2048, 4, allgather_recursive_doubling},
    {2048, 8, allgather_bruck},
    {2048, 16, allgather_recursive_doubling},
    {2048, 32, allgather_bruck},
    {2048, 256, allgather_recursive_doubling},
    {2048, 512, allgather_bruck},
    {2048, 4096, allgather_recursive_doubling},
    {2048, kAnyBytes, allgather_ring},
    {4096, 32, allgather_bruck},
    {4096, 128, allgather_recursive_doubling},
    {4096, 512, allgather_bruck},
    {4096, 4096, allgather_recursive_doubling},
    {4096, kAnyBytes, allgather_ring},
    {kAnySize, 2, allgather_recursive_doubling},
    {kAnySize, 8, allgather_bruck},
    {kAnySize, 16, allgather_recursive_doubling},
    {kAnySize, 512, allgather_bruck},
    {kAnySize, 4096, allgather_recursive_doubling},
    {kAnySize, kAnyBytes, allgather_ring},
};

constexpr Line kScatter[] = {
    {4, kAnyBytes, scatter_linear},        {8, 2048, scatter_binomial},     {8, 4096, scatter_linear},
    {8, 8192, scatter_binomial},           {8, kAnyBytes, scatter_linear},  {32, 16384, scatter_binomial},
    {32, kAnyBytes, scatter_linear},       {64, 512, scatter_binomial},     {64, 8192, scatter_linear},
    {64, 16384, scatter_binomial},         {64, kAnyBytes, scatter_linear}, {kAnySize, 512, scatter_binomial},
    {kAnySize, kAnyBytes, scatter_linear},
};

constexpr Line kAlltoall[] = {
    {3, 32768, alltoall_pairwise},
    {3, 262144, alltoall_scattered},
    {3, kAnyBytes, alltoall_pairwise},
    {8, 524288, alltoall_scattered},
    {8, 1048576, alltoall_pairwise},
    {8, kAnyBytes, alltoall_scattered},
    {16, kAnyBytes, alltoall_scattered},
    {32, 4, alltoall_scattered},
    {32, 512, alltoall_bruck},
    {32, kAnyBytes, alltoall_scattered},
    {64, 512, alltoall_bruck},
    {64, kAnyBytes, alltoall_scattered},
    {256, 1024, alltoall_bruck},
    {256, 262144, alltoall_scattered},
    {256, kAnyBytes, alltoall_pairwise},
    {512, 1024, alltoall_bruck},
    {512, 32768, alltoall_scattered},
    {512, kAnyBytes, alltoall_pairwise},
    {1024, 512, alltoall_bruck},
    {1024, 262144, alltoall_scattered},
    {1024, kAnyBytes, alltoall_pairwise},
    {2048, 512, alltoall_bruck},
    {2048, kAnyBytes, alltoall_scattered},
    {4096, 1024, alltoall_bruck},
    {4096, kAnyBytes, alltoall_scattered},
    {kAnySize, 2048, alltoall_bruck},
    {kAnySize, kAnyBytes, alltoall_scattered},
};

constexpr Line kAlltoallv[] = {
    {4, kAnyBytes, alltoall_pairwise},    {64, kAnyBytes, alltoall_scattered},
    {128, kAnyBytes, alltoall_pairwise},  {256, kAnyBytes, alltoall_scattered},
    {1024, kAnyBytes, alltoall_pairwise}, {kAnySize, kAnyBytes, alltoall_scattered},
};

constexpr Line kReduceScatter[] = {
    {4, 131072, reduce_scatter_recursive_halving},
    {4, kAnyBytes, reduce_scatter_at_root},
    {8, 1048576, reduce_scatter_recursive_halving},
    {8, kAnyBytes, reduce_scatter_at_root},
    {16, 4, reduce_scatter_at_root},
    {16, 524288, reduce_scatter_recursive_halving},
    {16, 4194304, reduce_scatter_at_root},
    {16, kAnyBytes, reduce_scatter_recursive_halving},
    {32, 32, reduce_scatter_at_root},
    {32, 524288, reduce_scatter_recursive_halving},
    {32, 2097152, reduce_scatter_at_root},
    {32, kAnyBytes, reduce_scatter_recursive_halving},
    {kAnySize, 4, reduce_scatter_recursive_halving},
    {kAnySize, 16, reduce_scatter_at_root},
    {kAnySize, 65536, reduce_scatter_recursive_halving},
    {kAnySize, 262144, reduce_scatter_at_root},
    {kAnySize, kAnyBytes, reduce_scatter_recursive_halving},
};

// A ring, a segmented ring and Rabenseifner's algorithm need an element for each part; Open MPI then takes another one.
Algorithm allreduce(int size, std::uint64_t bytes) {
  const Algorithm found = first_that_holds(kAllreduce, size, bytes);
  const std::uint64_t elements = bytes / kElementBytes;
  if (found == allreduce_ring && elements < static_cast<std::uint64_t>(size)) {
    return allreduce_recursive_doubling;
  }
  if (found == allreduce_reduce_scatter_allgather && elements < static_cast<std::uint64_t>(power_of_two_below(size))) {
    return allreduce_reduce_bcast;
  }
  return found;
}

Algorithm reduce(int size, std::uint64_t bytes) {
  const Algorithm found = first_that_holds(kReduce, size, bytes);
  const bool too_few = bytes / kElementBytes < static_cast<std::uint64_t>(power_of_two_below(size));
  return found == reduce_reduce_scatter_gather && too_few ? reduce_linear : found;
}

}  // namespace

Algorithm openmpi_rules(CallKind kind, int size, std::uint64_t bytes) {
  switch (kind) {
    case CallKind::Barrier:
      return first_that_holds(kBarrier, size, bytes);
    case CallKind::Bcast:
      return first_that_holds(kBcast, size, bytes);
    case CallKind::Reduce:
      return reduce(size, bytes);
    case CallKind::Allreduce:
      return allreduce(size, bytes);
    case CallKind::Gather:
      return first_that_holds(kGather, size, bytes);
    case CallKind::Allgather:
    case CallKind::Allgatherv:
      return first_that_holds(kAllgather, size, bytes);
    case CallKind::Scatter:
      return first_that_holds(kScatter, size, bytes);
    case CallKind::Alltoall:
      return first_that_holds(kAlltoall, size, bytes);
    case CallKind::Alltoallv:
      return first_that_holds(kAlltoallv, size, bytes);
    case CallKind::ReduceScatter:
    case CallKind::ReduceScatterv:
      return first_that_holds(kReduceScatter, size, bytes);
    case CallKind::Alltoallw:
      return alltoall_scattered;
    case CallKind::Scan:
    case CallKind::Exscan:
      return scan_linear;
    default:
      throw std::logic_error("not a collective");
  }
}

}  // namespace manynode::collectives
