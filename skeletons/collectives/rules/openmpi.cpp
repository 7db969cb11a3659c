// Open MPI's choices: its tables, and the algorithms that it takes in place of others for few elements.
#include <stdexcept>

#include "openmpi_tables.hpp"

namespace manynode::collectives {
namespace {

// A ring and Rabenseifner's algorithm need an element for each part; Open MPI then takes another one.
Algorithm allreduce(int size, std::uint64_t bytes) {
  const Algorithm found = first_that_holds(openmpi::kAllreduce, size, bytes);
  const std::uint64_t elements = bytes / kElementBytes;
  if (found == allreduce_ring && elements < static_cast<std::uint64_t>(size)) {
    return allreduce_recursive_doubling;
  }
  if (found == allreduce_reduce_scatter_allgather && elements < static_cast<std::uint64_t>(power_of_two_below(size))) {
    return allreduce_basic_linear;
  }
  return found;
}

Algorithm reduce(int size, std::uint64_t bytes) {
  const Algorithm found = first_that_holds(openmpi::kReduce, size, bytes);
  const bool too_few = bytes / kElementBytes < static_cast<std::uint64_t>(power_of_two_below(size));
  return found == reduce_reduce_scatter_gather && too_few ? reduce_linear : found;
}

}  // namespace

Algorithm openmpi_rules(CallKind kind, int size, std::uint64_t bytes) {
  switch (kind) {
    case CallKind::Barrier:
      return first_that_holds(openmpi::kBarrier, size, bytes);
    case CallKind::Bcast:
      return first_that_holds(openmpi::kBcast, size, bytes);
    case CallKind::Reduce:
      return reduce(size, bytes);
    case CallKind::Allreduce:
      return allreduce(size, bytes);
    case CallKind::Gather:
      return first_that_holds(openmpi::kGather, size, bytes);
    case CallKind::Allgather:
      return first_that_holds(openmpi::kAllgather, size, bytes);
    case CallKind::Allgatherv:
      return first_that_holds(openmpi::kAllgatherv, size, bytes);
    case CallKind::Scatter:
      return first_that_holds(openmpi::kScatter, size, bytes);
    case CallKind::Alltoall:
      return first_that_holds(openmpi::kAlltoall, size, bytes);
    case CallKind::Alltoallv:
      return first_that_holds(openmpi::kAlltoallv, size, bytes);
    case CallKind::ReduceScatter:
      return first_that_holds(openmpi::kReduceScatterBlock, size, bytes);
    case CallKind::ReduceScatterv:  // by the bytes of all shares
      return first_that_holds(openmpi::kReduceScatter, size, bytes * static_cast<std::uint64_t>(size));
    case CallKind::Alltoallw:
      return alltoall_linear;
    case CallKind::Scan:
    case CallKind::Exscan:
      return scan_linear;
    default:
      throw std::logic_error("not a collective");
  }
}

}  // namespace manynode::collectives
