// The facade's functions: each appends one Call.
#include "manynode/mpi.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "manynode/error_report.hpp"

namespace manynode {

namespace {

// Limits of the bytes of a message and of the total of a collective.
constexpr std::uint64_t kMostOfOne = std::uint64_t{1} << 50;
constexpr std::uint64_t kMostOfAll = std::uint64_t{1} << 62;

}  // namespace

void Mpi::compute(Phase phase) { append(CallKind::Compute, kWorld).first = phase.id; }

void Mpi::pause(double seconds) {
  constexpr double kLongest_s = 1e6;  // its picoseconds fit into 63 bits
  if (!(seconds >= 0 && seconds <= kLongest_s)) {
    throw std::logic_error("rank " + std::to_string(rank_) + ": a pause of " + std::to_string(seconds) + " s");
  }
  Call& call = append(CallKind::Compute, kWorld);
  call.first = kPause;
  call.bytes = static_cast<std::uint64_t>(std::llround(seconds * 1e12));
}

void Mpi::send(int destination, std::uint64_t bytes, int tag, Communicator comm) {
  message(CallKind::Send, destination, bytes, tag, comm);
}

void Mpi::recv(int source, std::uint64_t bytes, int tag, Communicator comm) {
  message(CallKind::Recv, source, bytes, tag, comm);
}

Request Mpi::isend(int destination, std::uint64_t bytes, int tag, Communicator comm) {
  return Request{message(CallKind::Isend, destination, bytes, tag, comm).first = next_request_++};
}

Request Mpi::irecv(int source, std::uint64_t bytes, int tag, Communicator comm) {
  return Request{message(CallKind::Irecv, source, bytes, tag, comm).first = next_request_++};
}

void Mpi::wait(Request request) {
  Call& call = append(CallKind::Wait, kWorld);
  call.first = static_cast<std::uint32_t>(out_.requests.size());
  call.count = 1;
  out_.requests.push_back(request.id);
}

void Mpi::waitall(std::span<const Request> requests) {
  Call& call = append(CallKind::Waitall, kWorld);
  call.first = static_cast<std::uint32_t>(out_.requests.size());
  call.count = static_cast<std::uint32_t>(requests.size());
  for (const Request request : requests) {
    out_.requests.push_back(request.id);
  }
}

void Mpi::sendrecv(int destination, std::uint64_t send_bytes, int send_tag, int source, std::uint64_t recv_bytes,
                   int recv_tag, Communicator comm) {
  check_peer(source, comm);
  check_bytes(CallKind::Sendrecv, recv_bytes, kWorld);
  Call& call = message(CallKind::Sendrecv, destination, send_bytes, send_tag, comm);
  call.peer2 = source;
  call.first = static_cast<std::uint32_t>(out_.counts.size());
  out_.counts.push_back(recv_bytes);
  out_.counts.push_back(static_cast<std::uint64_t>(recv_tag));
}

void Mpi::barrier(Communicator comm) { append(CallKind::Barrier, comm); }

void Mpi::bcast(std::uint64_t bytes, int root, Communicator comm) { collective(CallKind::Bcast, bytes, root, comm); }

void Mpi::reduce(std::uint64_t bytes, int root, Communicator comm) { collective(CallKind::Reduce, bytes, root, comm); }

void Mpi::allreduce(std::uint64_t bytes, Communicator comm) { collective(CallKind::Allreduce, bytes, kNoPeer, comm); }

void Mpi::gather(std::uint64_t bytes, int root, Communicator comm) { collective(CallKind::Gather, bytes, root, comm); }

void Mpi::allgather(std::uint64_t bytes, Communicator comm) { collective(CallKind::Allgather, bytes, kNoPeer, comm); }

void Mpi::scatter(std::uint64_t bytes, int root, Communicator comm) {
  collective(CallKind::Scatter, bytes, root, comm);
}

void Mpi::alltoall(std::uint64_t bytes_per_pair, Communicator comm) {
  collective(CallKind::Alltoall, bytes_per_pair, kNoPeer, comm);
}

void Mpi::alltoallv(std::span<const std::uint64_t> send_bytes, std::span<const std::uint64_t> recv_bytes,
                    Communicator comm) {
  const auto size = static_cast<std::size_t>(communicators_.size(comm));
  if (send_bytes.size() != size || recv_bytes.size() != size) {
    throw std::logic_error("alltoallv: " + std::to_string(send_bytes.size()) + " and " +
                           std::to_string(recv_bytes.size()) + " counts for a communicator of " + std::to_string(size) +
                           " ranks");
  }
  Call& call = append(CallKind::Alltoallv, comm);
  call.first = static_cast<std::uint32_t>(out_.counts.size());
  call.count = static_cast<std::uint32_t>(size);
  for (const auto counts : {send_bytes, recv_bytes}) {
    for (const std::uint64_t bytes : counts) check_bytes(CallKind::Alltoallv, bytes, comm);
  }
  call.bytes = std::accumulate(send_bytes.begin(), send_bytes.end(), std::uint64_t{0});
  out_.counts.insert(out_.counts.end(), send_bytes.begin(), send_bytes.end());
  out_.counts.insert(out_.counts.end(), recv_bytes.begin(), recv_bytes.end());
}

void Mpi::reduce_scatter(std::uint64_t bytes_per_rank, Communicator comm) {
  collective(CallKind::ReduceScatter, bytes_per_rank, kNoPeer, comm);
}

Call& Mpi::append(CallKind kind, Communicator comm) {
  Call& call = out_.calls.emplace_back();
  call.kind = kind;
  call.communicator = comm.id;
  return call;
}

Call& Mpi::message(CallKind kind, int peer, std::uint64_t bytes, int tag, Communicator comm) {
  check_peer(peer, comm);
  if (bytes > kMostOfOne) check_bytes(kind, bytes, comm);
  Call& call = append(kind, comm);
  call.peer = peer;
  call.bytes = bytes;
  call.tag = tag;
  return call;
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

// More is a mistake of the parameters. Algorithms add up the pieces of all ranks, which must not wrap.
void Mpi::check_bytes(CallKind kind, std::uint64_t bytes, Communicator comm) const {
  const auto pieces = is_collective(kind) ? static_cast<std::uint64_t>(communicators_.size(comm)) : 1;
  const std::uint64_t most = std::min(kMostOfOne, kMostOfAll / pieces);
  if (bytes <= most) return;
  throw UserError("a message of the skeleton is too long",
                  "rank " + std::to_string(rank_) + ", " + std::string(call_name(kind)),
                  std::to_string(bytes) + " bytes",
                  "at most " + std::to_string(most) + " bytes with " + std::to_string(pieces) + " ranks",
                  "choose smaller sizes in application: parameters");
}

// A wrong peer is a defect of the skeleton. It is reported here by name instead of deadlocking the simulation.
void Mpi::check_peer(int peer, Communicator comm) const {
  const bool special = peer == kProcNull || peer == kAnySource;
  if (!special && (peer < 0 || peer >= communicators_.size(comm))) {
    throw std::logic_error("rank " + std::to_string(rank_) + ": peer " + std::to_string(peer) +
                           " is not in a communicator of " + std::to_string(communicators_.size(comm)) + " ranks");
  }
}

}  // namespace manynode
