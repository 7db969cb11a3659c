// Collectives: with one size, with sizes by block, over neighbours.
#include "walk.hpp"

namespace manynode::derived {

void Walk::collective(const Item& item) {
  const CallFields& call = *item.call;
  if (is_neighbor_collective(call.kind)) return over_neighbors(item);
  if (call.sent.given() || call.received.given()) return by_block(item);
  const Communicator comm = communicator(item);
  if (call.kind == CallKind::Barrier) return either(call, &Mpi::barrier, &Mpi::ibarrier, comm);
  const std::uint64_t bytes = size(item, "bytes", call.bytes);
  const int root = call.peer.given() ? peer(item, "peer", call.peer, false, false) : kNoPeer;
  using Whole = void (Mpi::*)(std::uint64_t, Communicator);
  using WholeNonblocking = Request (Mpi::*)(std::uint64_t, Communicator);
  switch (call.kind) {
    case CallKind::Bcast:
      return either(call, &Mpi::bcast, &Mpi::ibcast, bytes, root, comm);
    case CallKind::Reduce:
      return either(call, &Mpi::reduce, &Mpi::ireduce, bytes, root, comm);
    case CallKind::Gather:
      return either(call, &Mpi::gather, &Mpi::igather, bytes, root, comm);
    case CallKind::Scatter:
      return either(call, &Mpi::scatter, &Mpi::iscatter, bytes, root, comm);
    case CallKind::Allreduce:
      return either(call, &Mpi::allreduce, &Mpi::iallreduce, bytes, comm);
    case CallKind::Scan:
      return either(call, &Mpi::scan, &Mpi::iscan, bytes, comm);
    case CallKind::Exscan:
      return either(call, &Mpi::exscan, &Mpi::iexscan, bytes, comm);
    case CallKind::Allgather:
      return either(call, &Mpi::allgather, &Mpi::iallgather, bytes, comm);
    case CallKind::Alltoall:
      return either(call, &Mpi::alltoall, &Mpi::ialltoall, bytes, comm);
    default:
      return either(call, static_cast<Whole>(&Mpi::reduce_scatter),
                    static_cast<WholeNonblocking>(&Mpi::ireduce_scatter), bytes, comm);
  }
}

void Walk::by_block(const Item& item) {
  const CallFields& call = *item.call;
  const Communicator comm = communicator(item);
  const auto members = static_cast<std::size_t>(mpi_.size(comm));
  const int root = call.peer.given() ? peer(item, "peer", call.peer, false, false) : kNoPeer;
  const bool knows = root == kNoPeer || root == mpi_.rank(comm);  // away from the root, no rank knows the blocks
  const Bytes sent = blocks(item, "sent", call.sent, knows ? members : 0, sent_);
  const Bytes received = blocks(item, "received", call.received, knows ? members : 0, received_);
  using ByRank = void (Mpi::*)(Bytes, Communicator);
  using ByRankNonblocking = Request (Mpi::*)(Bytes, Communicator);
  switch (call.kind) {
    case CallKind::Gatherv:
      return either(call, &Mpi::gatherv, &Mpi::igatherv, size(item, "bytes", call.bytes), received, root, comm);
    case CallKind::Scatterv:
      return either(call, &Mpi::scatterv, &Mpi::iscatterv, sent, size(item, "bytes", call.bytes), root, comm);
    case CallKind::Allgatherv:
      return either(call, &Mpi::allgatherv, &Mpi::iallgatherv, received, comm);
    case CallKind::Alltoallv:
      return either(call, &Mpi::alltoallv, &Mpi::ialltoallv, sent, received, comm);
    case CallKind::Alltoallw:
      return either(call, &Mpi::alltoallw, &Mpi::ialltoallw, sent, received, comm);
    default:
      return either(call, static_cast<ByRank>(&Mpi::reduce_scatter),
                    static_cast<ByRankNonblocking>(&Mpi::ireduce_scatter), received, comm);
  }
}

void Walk::over_neighbors(const Item& item) {
  const CallFields& call = *item.call;
  const Communicator comm = communicator(item);
  const std::vector<int> sources = neighbors(item, "sources", call.sources);
  const std::vector<int> destinations = neighbors(item, "destinations", call.destinations);
  const Neighbors neighbors{sources, destinations};
  const Bytes sent = blocks(item, "sent", call.sent, destinations.size(), sent_);
  const Bytes received = blocks(item, "received", call.received, sources.size(), received_);
  const std::uint64_t bytes = call.bytes.given() ? size(item, "bytes", call.bytes) : 0;
  switch (call.kind) {
    case CallKind::NeighborAllgather:
      return either(call, &Mpi::neighbor_allgather, &Mpi::ineighbor_allgather, bytes, neighbors, comm);
    case CallKind::NeighborAllgatherv:
      return either(call, &Mpi::neighbor_allgatherv, &Mpi::ineighbor_allgatherv, bytes, received, neighbors, comm);
    case CallKind::NeighborAlltoall:
      return either(call, &Mpi::neighbor_alltoall, &Mpi::ineighbor_alltoall, bytes, neighbors, comm);
    case CallKind::NeighborAlltoallv:
      return either(call, &Mpi::neighbor_alltoallv, &Mpi::ineighbor_alltoallv, sent, received, neighbors, comm);
    default:
      return either(call, &Mpi::neighbor_alltoallw, &Mpi::ineighbor_alltoallw, sent, received, neighbors, comm);
  }
}

Bytes Walk::blocks(const Item& item, const char* field, const Formula& formula, std::size_t count,
                   std::vector<std::uint64_t>& sizes) {
  sizes.clear();
  if (!formula.given()) return sizes;
  sizes.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    frame_.set(kBlockSlot, static_cast<std::int64_t>(k));
    sizes.push_back(size(item, field, formula));
  }
  return sizes;
}

std::vector<int> Walk::neighbors(const Item& item, const char* field, const std::vector<Formula>& ranks) {
  std::vector<int> found;
  for (const Formula& rank : ranks) found.push_back(peer(item, field, rank, true, false));
  return found;
}

}  // namespace manynode::derived
