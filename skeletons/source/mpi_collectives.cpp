// The facade's collectives: each appends one Call and, for bytes by rank or by neighbour, entries in the side table.
#include <numeric>
#include <stdexcept>
#include <string>

#include "manynode/mpi.hpp"

namespace manynode {
namespace {

std::uint64_t sum(Bytes counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

}  // namespace

void Mpi::barrier(Communicator comm) { append(CallKind::Barrier, comm); }

void Mpi::bcast(std::uint64_t bytes, int root, Communicator comm) { collective(CallKind::Bcast, bytes, root, comm); }

void Mpi::reduce(std::uint64_t bytes, int root, Communicator comm) { collective(CallKind::Reduce, bytes, root, comm); }

void Mpi::allreduce(std::uint64_t bytes, Communicator comm) { collective(CallKind::Allreduce, bytes, kNoPeer, comm); }

void Mpi::scan(std::uint64_t bytes, Communicator comm) { collective(CallKind::Scan, bytes, kNoPeer, comm); }

void Mpi::exscan(std::uint64_t bytes, Communicator comm) { collective(CallKind::Exscan, bytes, kNoPeer, comm); }

void Mpi::gather(std::uint64_t bytes, int root, Communicator comm) { collective(CallKind::Gather, bytes, root, comm); }

void Mpi::gatherv(std::uint64_t bytes, Bytes recv_bytes, int root, Communicator comm) {
  check_counts(CallKind::Gatherv, recv_bytes, root == rank(comm) ? size(comm) : 0, comm);
  check_bytes(CallKind::Gatherv, bytes, comm);
  by_rank(CallKind::Gatherv, bytes, root, {recv_bytes}, comm);
}

void Mpi::allgather(std::uint64_t bytes, Communicator comm) { collective(CallKind::Allgather, bytes, kNoPeer, comm); }

void Mpi::allgatherv(Bytes recv_bytes, Communicator comm) {
  check_counts(CallKind::Allgatherv, recv_bytes, size(comm), comm);
  by_rank(CallKind::Allgatherv, recv_bytes[static_cast<std::size_t>(rank(comm))], kNoPeer, {recv_bytes}, comm);
}

void Mpi::scatter(std::uint64_t bytes, int root, Communicator comm) {
  collective(CallKind::Scatter, bytes, root, comm);
}

void Mpi::scatterv(Bytes send_bytes, std::uint64_t bytes, int root, Communicator comm) {
  check_counts(CallKind::Scatterv, send_bytes, root == rank(comm) ? size(comm) : 0, comm);
  check_bytes(CallKind::Scatterv, bytes, comm);
  by_rank(CallKind::Scatterv, bytes, root, {send_bytes}, comm);
}

void Mpi::alltoall(std::uint64_t bytes_per_pair, Communicator comm) {
  collective(CallKind::Alltoall, bytes_per_pair, kNoPeer, comm);
}

void Mpi::alltoallv(Bytes send_bytes, Bytes recv_bytes, Communicator comm) {
  by_pair(CallKind::Alltoallv, send_bytes, recv_bytes, comm);
}

void Mpi::alltoallw(Bytes send_bytes, Bytes recv_bytes, Communicator comm) {
  by_pair(CallKind::Alltoallw, send_bytes, recv_bytes, comm);
}

void Mpi::reduce_scatter(std::uint64_t bytes_per_rank, Communicator comm) {
  collective(CallKind::ReduceScatter, bytes_per_rank, kNoPeer, comm);
}

void Mpi::reduce_scatter(Bytes bytes_by_rank, Communicator comm) {
  check_counts(CallKind::ReduceScatterv, bytes_by_rank, size(comm), comm);
  by_rank(CallKind::ReduceScatterv, bytes_by_rank[static_cast<std::size_t>(rank(comm))], kNoPeer, {bytes_by_rank},
          comm);
}

void Mpi::neighbor_allgather(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm) {
  by_neighbor(CallKind::NeighborAllgather, bytes, {}, {}, neighbors, comm);
}

void Mpi::neighbor_allgatherv(std::uint64_t bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm) {
  by_neighbor(CallKind::NeighborAllgatherv, bytes, {}, recv_bytes, neighbors, comm);
}

void Mpi::neighbor_alltoall(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm) {
  by_neighbor(CallKind::NeighborAlltoall, bytes, {}, {}, neighbors, comm);
}

void Mpi::neighbor_alltoallv(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm) {
  by_neighbor(CallKind::NeighborAlltoallv, 0, send_bytes, recv_bytes, neighbors, comm);
}

void Mpi::neighbor_alltoallw(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm) {
  by_neighbor(CallKind::NeighborAlltoallw, 0, send_bytes, recv_bytes, neighbors, comm);
}

void Mpi::collective(CallKind kind, std::uint64_t bytes, int root, Communicator comm) {
  if (root != kNoPeer) {
    check_peer(root, comm);
  }
  check_bytes(kind, bytes, comm);
  Call& call = append(kind, comm);
  call.peer = root;
  call.bytes = bytes;
}

void Mpi::by_rank(CallKind kind, std::uint64_t bytes, int root, std::initializer_list<Bytes> counts,
                  Communicator comm) {
  if (root != kNoPeer) {
    check_peer(root, comm);
  }
  Call& call = append(kind, comm);
  call.peer = root;
  call.bytes = bytes;
  call.first = static_cast<std::uint32_t>(out_.counts.size());
  call.count = static_cast<std::uint32_t>(counts.begin()->size());
  for (const Bytes one : counts) {
    out_.counts.insert(out_.counts.end(), one.begin(), one.end());
  }
}

void Mpi::by_pair(CallKind kind, Bytes send_bytes, Bytes recv_bytes, Communicator comm) {
  for (const Bytes counts : {send_bytes, recv_bytes}) check_counts(kind, counts, size(comm), comm);
  by_rank(kind, sum(send_bytes), kNoPeer, {send_bytes, recv_bytes}, comm);
}

void Mpi::by_neighbor(CallKind kind, std::uint64_t bytes, std::optional<Bytes> send_bytes,
                      std::optional<Bytes> recv_bytes, const Neighbors& neighbors, Communicator comm) {
  const auto& [sources, destinations] = neighbors;
  if (send_bytes) check_counts(kind, *send_bytes, destinations.size(), comm);
  if (recv_bytes) check_counts(kind, *recv_bytes, sources.size(), comm);
  check_bytes(kind, bytes, comm);
  for (const std::span<const int> ranks : {sources, destinations}) {
    for (const int rank : ranks) check_peer(rank, comm);
  }

  auto& counts = out_.counts;
  const std::size_t first = counts.size();
  counts.resize(first + 2);
  // The entries without those of kProcNull; returns how many these are.
  const auto add = [&](std::span<const int> ranks, const auto& value) {
    const std::size_t before = counts.size();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] != kProcNull) counts.push_back(value(i));
    }
    return counts.size() - before;
  };
  counts[first] = add(sources, [&](std::size_t i) { return static_cast<std::uint64_t>(sources[i]); });
  counts[first + 1] = add(destinations, [&](std::size_t i) { return static_cast<std::uint64_t>(destinations[i]); });
  const std::size_t first_sent = counts.size();
  add(destinations, [&](std::size_t i) { return send_bytes ? (*send_bytes)[i] : bytes; });
  const std::size_t end_sent = counts.size();
  add(sources, [&](std::size_t i) { return recv_bytes ? (*recv_bytes)[i] : bytes; });

  Call& call = append(kind, comm);
  call.first = static_cast<std::uint32_t>(first);
  call.bytes = send_bytes ? sum(std::span(counts).subspan(first_sent, end_sent - first_sent)) : bytes;
}

void Mpi::check_counts(CallKind kind, Bytes counts, std::size_t expected, Communicator comm) const {
  if (counts.size() != expected) {
    throw std::logic_error("rank " + std::to_string(rank_) + ", " + std::string(call_name(kind)) + ": " +
                           std::to_string(counts.size()) + " counts in place of " + std::to_string(expected) +
                           ", in a communicator of " + std::to_string(communicators_.size(comm)) + " ranks");
  }
  for (const std::uint64_t bytes : counts) check_bytes(kind, bytes, comm);
}

}  // namespace manynode
