// The side table of bytes by rank and by neighbour.
#include "manynode/mpi.hpp"

namespace manynode {
namespace {

// How many of the lists "sent" and "received" a collective with bytes by rank has.
bool has_sent(CallKind kind) {
  return kind == CallKind::Alltoallv || kind == CallKind::Alltoallw || kind == CallKind::Scatterv;
}

bool has_received(CallKind kind) {
  return kind == CallKind::Alltoallv || kind == CallKind::Alltoallw || kind == CallKind::Gatherv ||
         kind == CallKind::Allgatherv || kind == CallKind::ReduceScatterv;
}

}  // namespace

std::span<const std::uint64_t> Calls::sent(const Call& call) const {
  if (is_neighbor_collective(call.kind)) {
    const std::size_t to = destinations(call).size();
    return std::span(counts).subspan(call.first + 2 + sources(call).size() + to, to);
  }
  return has_sent(call.kind) ? std::span(counts).subspan(call.first, call.count) : std::span<const std::uint64_t>();
}

std::span<const std::uint64_t> Calls::received(const Call& call) const {
  if (is_neighbor_collective(call.kind)) {
    const std::size_t from = sources(call).size();
    return std::span(counts).subspan(call.first + 2 + from + 2 * destinations(call).size(), from);
  }
  if (!has_received(call.kind)) return {};
  return std::span(counts).subspan(call.first + (has_sent(call.kind) ? call.count : 0), call.count);
}

std::span<const std::uint64_t> Calls::sources(const Call& call) const {
  return std::span(counts).subspan(call.first + 2, static_cast<std::size_t>(counts[call.first]));
}

std::span<const std::uint64_t> Calls::destinations(const Call& call) const {
  return std::span(counts).subspan(call.first + 2 + sources(call).size(),
                                   static_cast<std::size_t>(counts[call.first + 1]));
}

}  // namespace manynode
