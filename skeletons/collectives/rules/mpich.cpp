// MPICH's defaults: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
// 2005, and the limits MPIR_CVAR_<COLLECTIVE>_SHORT_MSG_SIZE and the like of MPICH 3 and 4.
#include <stdexcept>

#include "rules.hpp"

namespace manynode::collectives {
namespace {

constexpr int kBcastMinProcs = 8;
constexpr std::uint64_t kBcastShort = 12288;
constexpr std::uint64_t kBcastLong = 524288;
constexpr std::uint64_t kReduceShort = 2048;
constexpr std::uint64_t kAllreduceShort = 2048;
constexpr std::uint64_t kAllgatherShort = 81920;
constexpr std::uint64_t kAllgatherLong = 524288;
constexpr int kAlltoallMinProcs = 8;
constexpr std::uint64_t kAlltoallShort = 256;
constexpr std::uint64_t kAlltoallMedium = 32768;
constexpr std::uint64_t kReduceScatterLong = 524288;

bool is_power_of_two(int size) { return power_of_two_below(size) == size; }

// Rabenseifner's reductions need an element for each rank of the power of two.
bool parts_for_all(int size, std::uint64_t bytes) {
  return bytes / kElementBytes >= static_cast<std::uint64_t>(power_of_two_below(size));
}

Algorithm bcast(int size, std::uint64_t bytes) {
  if (size < kBcastMinProcs || bytes < kBcastShort) {
    return bcast_binomial;
  }
  return is_power_of_two(size) && bytes < kBcastLong ? bcast_scatter_recursive_doubling : bcast_scatter_allgather;
}

Algorithm allgather(int size, std::uint64_t bytes) {
  const std::uint64_t total = bytes * static_cast<std::uint64_t>(size);
  if (is_power_of_two(size)) {
    return total < kAllgatherLong ? allgather_recursive_doubling : allgather_ring;
  }
  return total < kAllgatherShort ? allgather_bruck : allgather_ring;
}

Algorithm alltoall(int size, std::uint64_t bytes) {
  if (size >= kAlltoallMinProcs && bytes <= kAlltoallShort) {
    return alltoall_bruck;
  }
  return bytes <= kAlltoallMedium ? alltoall_scattered : alltoall_pairwise;
}

}  // namespace

Algorithm mpich_rules(CallKind kind, int size, std::uint64_t bytes) {
  switch (kind) {
    case CallKind::Barrier:
      return barrier_dissemination;
    case CallKind::Bcast:
      return bcast(size, bytes);
    case CallKind::Reduce:
      return bytes <= kReduceShort || !parts_for_all(size, bytes) ? reduce_binomial : reduce_reduce_scatter_gather;
    case CallKind::Allreduce:
      return bytes <= kAllreduceShort || !parts_for_all(size, bytes) ? allreduce_recursive_doubling
                                                                     : allreduce_reduce_scatter_allgather;
    case CallKind::Gather:
      return gather_binomial;
    case CallKind::Allgather:
    case CallKind::Allgatherv:
      return allgather(size, bytes);
    case CallKind::Scatter:
      return scatter_binomial;
    case CallKind::Alltoall:
      return alltoall(size, bytes);
    case CallKind::Alltoallv:
    case CallKind::Alltoallw:
      return alltoall_scattered;
    case CallKind::ReduceScatter:
    case CallKind::ReduceScatterv:
      return bytes * static_cast<std::uint64_t>(size) < kReduceScatterLong ? reduce_scatter_recursive_halving
                                                                           : reduce_scatter_pairwise;
    case CallKind::Scan:
    case CallKind::Exscan:
      return scan_recursive_doubling;
    default:
      throw std::logic_error("not a collective");
  }
}

}  // namespace manynode::collectives
