// The MPI interface of a skeleton: MPI's names, without data, never blocking. Each function appends one Call.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "manynode/call.hpp"
#include "manynode/communicator.hpp"

namespace manynode {

// The calls that one step of one rank emitted, in program order, with the side tables that some calls point into.
struct Calls {
  std::vector<Call> calls;
  std::vector<std::uint32_t> requests;  // of waits
  // Of sendrecv: bytes of the receive buffer, receive tag. Of alltoallv and alltoallw: bytes sent to each rank of the
  // communicator, then bytes received from each. Of scatterv (at the root): bytes sent to each. Of gatherv (at the
  // root), allgatherv and reduce_scatter: bytes received from each; a reduction's share of each. Of neighbour
  // collectives: number of sources, of destinations; ranks of the sources, of the destinations; bytes sent to each
  // destination, bytes received from each source. Of one-sided calls with a group: its ranks.
  std::vector<std::uint64_t> counts;

  void clear() {
    calls.clear();
    requests.clear();
    counts.clear();
  }

  // Of a wait.
  std::span<const std::uint32_t> waited_for(const Call& call) const {
    return std::span(requests).subspan(call.first, call.count);
  }

  // Of a sendrecv.
  std::uint64_t receive_bytes(const Call& call) const { return counts[call.first]; }
  std::int32_t receive_tag(const Call& call) const { return static_cast<std::int32_t>(counts[call.first + 1]); }

  // Of a collective with bytes by rank of its communicator, or by neighbour. Empty if the call has none or, at this
  // rank, does not know them.
  std::span<const std::uint64_t> sent(const Call& call) const;
  std::span<const std::uint64_t> received(const Call& call) const;

  // Of a neighbour collective: ranks of its communicator.
  std::span<const std::uint64_t> sources(const Call& call) const;
  std::span<const std::uint64_t> destinations(const Call& call) const;

  // Of a one-sided call with a group: ranks of its communicator.
  std::span<const std::uint64_t> group(const Call& call) const {
    return std::span(counts).subspan(call.first, call.count);
  }
};

// A handle to a pending isend, irecv, non-blocking collective or remote operation of this rank. Numbers count from 0
// within one Mpi object. Engines create a new object for each step: a skeleton completes a request in the step that
// started it.
struct Request {
  std::uint32_t id{0};
};

struct Phase {
  std::uint32_t id{0};
};

// Bytes by rank of the communicator or, of a neighbour collective, by neighbour.
using Bytes = std::span<const std::uint64_t>;
// A window of one-sided communication: its communicator, and its number among the windows of this communicator, in the
// order in which they were made.
struct Window {
  Communicator communicator;
  int number{0};
};
// The neighbours of a rank, as MPI_Cart_create (for a grid, the lower and the upper one of each dimension are both) or
// MPI_Dist_graph_create_adjacent orders them: ranks of the communicator. kProcNull is nobody, as at the edge of a grid.
struct Neighbors {
  std::span<const int> sources;
  std::span<const int> destinations;
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
  // A skeleton states what the application's calls completed: MPI_Waitany and MPI_Waitsome wait for exactly the given
  // requests. A loop of MPI_Test, MPI_Testall and the like is the wait for the requests that it tests until they are
  // complete.
  void wait(Request request);
  void waitall(std::span<const Request> requests);
  void waitany(Request completed);
  void waitsome(std::span<const Request> completed);
  void sendrecv(int destination, std::uint64_t send_bytes, int send_tag, int source, std::uint64_t recv_bytes,
                int recv_tag, Communicator comm = kWorld);

  void barrier(Communicator comm = kWorld);
  void bcast(std::uint64_t bytes, int root, Communicator comm = kWorld);
  void reduce(std::uint64_t bytes, int root, Communicator comm = kWorld);
  void allreduce(std::uint64_t bytes, Communicator comm = kWorld);
  void scan(std::uint64_t bytes, Communicator comm = kWorld);
  void exscan(std::uint64_t bytes, Communicator comm = kWorld);
  void gather(std::uint64_t bytes, int root, Communicator comm = kWorld);
  // `recv_bytes` at the root; elsewhere empty.
  void gatherv(std::uint64_t bytes, Bytes recv_bytes, int root, Communicator comm = kWorld);
  void allgather(std::uint64_t bytes, Communicator comm = kWorld);
  void allgatherv(Bytes recv_bytes, Communicator comm = kWorld);
  void scatter(std::uint64_t bytes, int root, Communicator comm = kWorld);
  // `send_bytes` at the root; elsewhere empty.
  void scatterv(Bytes send_bytes, std::uint64_t bytes, int root, Communicator comm = kWorld);
  void alltoall(std::uint64_t bytes_per_pair, Communicator comm = kWorld);
  void alltoallv(Bytes send_bytes, Bytes recv_bytes, Communicator comm = kWorld);
  void alltoallw(Bytes send_bytes, Bytes recv_bytes, Communicator comm = kWorld);
  // MPI_Reduce_scatter_block: every rank keeps `bytes_per_rank` of the result.
  void reduce_scatter(std::uint64_t bytes_per_rank, Communicator comm = kWorld);
  // MPI_Reduce_scatter: rank i keeps bytes_by_rank[i] of the result.
  void reduce_scatter(Bytes bytes_by_rank, Communicator comm = kWorld);

  // Collectives over a topology. `bytes` is one block; bytes by neighbour are in the order of the destinations or the
  // sources.
  void neighbor_allgather(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm = kWorld);
  void neighbor_allgatherv(std::uint64_t bytes, Bytes recv_bytes, const Neighbors& neighbors,
                           Communicator comm = kWorld);
  void neighbor_alltoall(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm = kWorld);
  void neighbor_alltoallv(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm = kWorld);
  void neighbor_alltoallw(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors, Communicator comm = kWorld);

  // The non-blocking forms, with the arguments of the blocking ones. primitive.hpp says when their messages move.
  Request ibarrier(Communicator comm = kWorld);
  Request ibcast(std::uint64_t bytes, int root, Communicator comm = kWorld);
  Request ireduce(std::uint64_t bytes, int root, Communicator comm = kWorld);
  Request iallreduce(std::uint64_t bytes, Communicator comm = kWorld);
  Request iscan(std::uint64_t bytes, Communicator comm = kWorld);
  Request iexscan(std::uint64_t bytes, Communicator comm = kWorld);
  Request igather(std::uint64_t bytes, int root, Communicator comm = kWorld);
  Request igatherv(std::uint64_t bytes, Bytes recv_bytes, int root, Communicator comm = kWorld);
  Request iallgather(std::uint64_t bytes, Communicator comm = kWorld);
  Request iallgatherv(Bytes recv_bytes, Communicator comm = kWorld);
  Request iscatter(std::uint64_t bytes, int root, Communicator comm = kWorld);
  Request iscatterv(Bytes send_bytes, std::uint64_t bytes, int root, Communicator comm = kWorld);
  Request ialltoall(std::uint64_t bytes_per_pair, Communicator comm = kWorld);
  Request ialltoallv(Bytes send_bytes, Bytes recv_bytes, Communicator comm = kWorld);
  Request ialltoallw(Bytes send_bytes, Bytes recv_bytes, Communicator comm = kWorld);
  Request ireduce_scatter(std::uint64_t bytes_per_rank, Communicator comm = kWorld);
  Request ireduce_scatter(Bytes bytes_by_rank, Communicator comm = kWorld);
  Request ineighbor_allgather(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm = kWorld);
  Request ineighbor_allgatherv(std::uint64_t bytes, Bytes recv_bytes, const Neighbors& neighbors,
                               Communicator comm = kWorld);
  Request ineighbor_alltoall(std::uint64_t bytes, const Neighbors& neighbors, Communicator comm = kWorld);
  Request ineighbor_alltoallv(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors,
                              Communicator comm = kWorld);
  Request ineighbor_alltoallw(Bytes send_bytes, Bytes recv_bytes, const Neighbors& neighbors,
                              Communicator comm = kWorld);

  // One-sided communication (primitive.hpp says how it is simulated). Targets are ranks of the window's communicator.
  // Making a window is none of these calls, and synchronises by a barrier where the application's call does. An
  // operation without request is complete after the next fence, complete, unlock or flush that covers it; one with a
  // request in the wait for it.
  void put(int target, std::uint64_t bytes, Window window);
  void get(int target, std::uint64_t bytes, Window window);
  void accumulate(int target, std::uint64_t bytes, Window window);
  // `bytes` go to the target, and as many come back: also MPI_Fetch_and_op and MPI_Compare_and_swap.
  void get_accumulate(int target, std::uint64_t bytes, Window window);
  Request rput(int target, std::uint64_t bytes, Window window);
  Request rget(int target, std::uint64_t bytes, Window window);
  Request raccumulate(int target, std::uint64_t bytes, Window window);
  Request rget_accumulate(int target, std::uint64_t bytes, Window window);
  void win_fence(Window window);
  // `group` has the origins of post and wait, the targets of start and complete.
  void win_post(std::span<const int> group, Window window);
  void win_start(std::span<const int> group, Window window);
  void win_complete(std::span<const int> group, Window window);
  void win_wait(std::span<const int> group, Window window);
  // Without a target (kNoPeer): all, as MPI_Win_lock_all.
  void win_lock(int target, Window window);
  void win_unlock(int target, Window window);
  void win_flush(int target, Window window);

  // Communicators of this rank. Every rank of the world makes them in the same order, as MPI requires: the number of a
  // communicator separates its messages from those of others.
  Communicator strided(int first, int stride, int count) { return communicators_.strided(first, stride, count); }
  Communicator cart(Communicator parent, std::span<const int> dims) { return communicators_.cart(parent, dims); }
  Communicator cart_sub(Communicator cart, const std::vector<bool>& keep) {
    return communicators_.cart_sub(cart, keep);
  }
  Communicator group(std::span<const int> members) { return communicators_.group(members); }
  Communicator split(const Partition& partition) { return communicators_.split(partition); }
  Communicator split(Communicator parent, const std::function<std::pair<int, int>(int rank)>& colour_and_key) {
    return communicators_.split(parent, colour_and_key);
  }

 private:
  Call& append(CallKind kind, Communicator comm);
  Call& message(CallKind kind, int peer, std::uint64_t bytes, int tag, Communicator comm);
  void check_bytes(CallKind kind, std::uint64_t bytes, Communicator comm) const;
  void check_peer(int peer, Communicator comm) const;
  void wait_for(CallKind kind, std::span<const Request> requests);
  void collective(CallKind kind, std::uint64_t bytes, int root, Communicator comm);
  // A collective with bytes by rank: `counts` is empty or holds as many entries as the communicator has ranks.
  void by_rank(CallKind kind, std::uint64_t bytes, int root, std::initializer_list<Bytes> counts, Communicator comm);
  void by_pair(CallKind kind, Bytes send_bytes, Bytes recv_bytes, Communicator comm);
  // One size for all neighbours where bytes by neighbour are missing.
  void by_neighbor(CallKind kind, std::uint64_t bytes, std::optional<Bytes> send_bytes, std::optional<Bytes> recv_bytes,
                   const Neighbors& neighbors, Communicator comm);
  void check_counts(CallKind kind, Bytes counts, std::size_t expected, Communicator comm) const;
  // Turns the last call, a collective or a remote operation, into its non-blocking form.
  Request made_nonblocking();
  Call& one_sided(CallKind kind, int target, std::uint64_t bytes, Window window);
  Request with_request(CallKind kind, int target, std::uint64_t bytes, Window window);
  void with_group(CallKind kind, std::span<const int> group, Window window);

  int rank_;
  int size_;
  Calls& out_;
  Communicators& communicators_;
  std::uint32_t next_request_{0};
};

}  // namespace manynode
