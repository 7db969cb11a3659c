// The MPI interface of a skeleton: MPI's names, without data, never blocking. Each function appends one Call.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "manynode/call.hpp"
#include "manynode/communicator.hpp"

namespace manynode {

// The calls that one step of one rank emitted, in program order, with the side tables that some calls point into.
struct Calls {
  std::vector<Call> calls;
  std::vector<std::uint32_t> requests;  // of wait and waitall
  std::vector<std::uint64_t> counts;  // of sendrecv: bytes of the receive buffer, receive tag; of alltoallv: bytes sent
                                      // to each rank of the communicator, then bytes received from each

  void clear() {
    calls.clear();
    requests.clear();
    counts.clear();
  }

  // Of a sendrecv.
  std::uint64_t receive_bytes(const Call& call) const { return counts[call.first]; }
  std::int32_t receive_tag(const Call& call) const { return static_cast<std::int32_t>(counts[call.first + 1]); }

  // Of an alltoallv, by rank of its communicator.
  std::span<const std::uint64_t> sent(const Call& call) const {
    return std::span(counts).subspan(call.first, call.count);
  }
  std::span<const std::uint64_t> received(const Call& call) const {
    return std::span(counts).subspan(call.first + call.count, call.count);
  }
};

// A handle to a pending isend or irecv of this rank. Numbers count from 0 within one Mpi object. Engines create a new
// object for each step: a skeleton completes a request in the step that started it.
struct Request {
  std::uint32_t id{0};
};

struct Phase {
  std::uint32_t id{0};
};

class Mpi {
 public:
  // `communicators` belongs to the rank and outlives this object.
  Mpi(int rank, int size, Calls& out, Communicators& communicators)
      : rank_(rank), size_(size), out_(out), communicators_(communicators) {}

  int rank() const { return rank_; }
  int size() const { return size_; }
  int rank(Communicator comm) const { return communicators_.rank(comm); }
  int size(Communicator comm) const { return communicators_.size(comm); }
  int world_rank(Communicator comm, int rank) const { return communicators_.world_rank(comm, rank); }

  void compute(Phase phase);
  // Lets time pass, as usleep() does; rounded to picoseconds and charged to computing.
  void pause(double seconds);

  void send(int destination, std::uint64_t bytes, int tag = 0, Communicator comm = kWorld);
  void recv(int source, std::uint64_t bytes, int tag = 0, Communicator comm = kWorld);
  Request isend(int destination, std::uint64_t bytes, int tag = 0, Communicator comm = kWorld);
  Request irecv(int source, std::uint64_t bytes, int tag = 0, Communicator comm = kWorld);
  void wait(Request request);
  void waitall(std::span<const Request> requests);
  void sendrecv(int destination, std::uint64_t send_bytes, int send_tag, int source, std::uint64_t recv_bytes,
                int recv_tag, Communicator comm = kWorld);

  void barrier(Communicator comm = kWorld);
  void bcast(std::uint64_t bytes, int root, Communicator comm = kWorld);
  void reduce(std::uint64_t bytes, int root, Communicator comm = kWorld);
  void allreduce(std::uint64_t bytes, Communicator comm = kWorld);
  void gather(std::uint64_t bytes, int root, Communicator comm = kWorld);
  void allgather(std::uint64_t bytes, Communicator comm = kWorld);
  void scatter(std::uint64_t bytes, int root, Communicator comm = kWorld);
  void alltoall(std::uint64_t bytes_per_pair, Communicator comm = kWorld);
  void alltoallv(std::span<const std::uint64_t> send_bytes, std::span<const std::uint64_t> recv_bytes,
                 Communicator comm = kWorld);
  // MPI_Reduce_scatter_block: every rank keeps `bytes_per_rank` of the result.
  void reduce_scatter(std::uint64_t bytes_per_rank, Communicator comm = kWorld);

  // Communicators of this rank. Every rank of the world makes them in the same order, as MPI requires: the number of a
  // communicator separates its messages from those of others.
  Communicator strided(int first, int stride, int count) { return communicators_.strided(first, stride, count); }
  Communicator cart(Communicator parent, std::span<const int> dims) { return communicators_.cart(parent, dims); }
  Communicator cart_sub(Communicator cart, const std::vector<bool>& keep) {
    return communicators_.cart_sub(cart, keep);
  }
  Communicator split(const Partition& partition) { return communicators_.split(partition); }
  Communicator split(Communicator parent, const std::function<std::pair<int, int>(int rank)>& colour_and_key) {
    return communicators_.split(parent, colour_and_key);
  }

 private:
  Call& append(CallKind kind, Communicator comm);
  Call& message(CallKind kind, int peer, std::uint64_t bytes, int tag, Communicator comm);
  void check_bytes(CallKind kind, std::uint64_t bytes, Communicator comm) const;
  void check_peer(int peer, Communicator comm) const;
  void collective(CallKind kind, std::uint64_t bytes, int root, Communicator comm);

  int rank_;
  int size_;
  Calls& out_;
  Communicators& communicators_;
  std::uint32_t next_request_{0};
};

}  // namespace manynode
