// The facade's functions: each appends one Call.
#include "manynode/mpi.hpp"

#include <algorithm>
#include <cmath>
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

void Mpi::wait(Request request) { wait_for(CallKind::Wait, std::span(&request, 1)); }

void Mpi::waitall(std::span<const Request> requests) { wait_for(CallKind::Waitall, requests); }

void Mpi::waitany(Request completed) { wait_for(CallKind::Waitany, std::span(&completed, 1)); }

void Mpi::waitsome(std::span<const Request> completed) { wait_for(CallKind::Waitsome, completed); }

void Mpi::wait_for(CallKind kind, std::span<const Request> requests) {
  Call& call = append(kind, kWorld);
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
