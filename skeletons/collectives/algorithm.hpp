// The interface of a collective algorithm. An algorithm is one function in one file,
// collectives/<collective>_<name>.cpp:
//
//   void manynode::collectives::<collective>_<name>(const Task& task, Messages& messages);
//
// The build lists the files, and declares the functions in algorithms.hpp for the rules and for combined algorithms. A
// new algorithm needs only its own file, and the test finds it by name.
// An algorithm is called on every rank of a communicator with the same task except for the rank and for bytes that only
// some ranks know. There are at least two ranks and, except for the barrier, at least one byte to move. It emits this
// rank's part.
//
// Receiving replaces the rank's data, or adds to it if pieces are collected. combine() after a receive reduces the
// received data with the rank's own. Tests follow contributions through the messages by these rules. copy() says which
// bytes the library copies between buffers of the rank; it changes no contribution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "manynode/primitive.hpp"
#include "temporaries.hpp"

namespace manynode::collectives {

// Whose implementation of an algorithm is followed where they differ: which buffers it copies.
enum class Library : std::uint8_t { Mpich, OpenMpi };

struct Task {
  int rank{0};
  int size{1};
  int root{0};
  Library library{Library::Mpich};            // that of the rules
  std::uint64_t segment{0};                   // of algorithms that send in segments; 0: the library's default
  bool exclusive{false};                      // exscan
  std::uint64_t bytes{0};                     // as Call::bytes; 0 of alltoallv and alltoallw
  std::span<const std::uint64_t> send_bytes;  // alltoallv, alltoallw: by rank; neighbour collectives: by destination
  std::span<const std::uint64_t> recv_bytes;  // likewise; by source
  // Shares that differ in their size, by rank: of allgatherv and reduce_scatter at every rank, of gatherv and scatterv
  // at the root. Empty: all are `bytes`.
  std::span<const std::uint64_t> blocks;
  std::span<const std::uint64_t> sources;  // neighbour collectives: ranks of the communicator
  std::span<const std::uint64_t> destinations;

  // The share of rank `i`; those of `count` ranks from `first` on, where rank 0 follows the last one.
  std::uint64_t block(int i) const { return blocks.empty() ? bytes : blocks[static_cast<std::size_t>(i)]; }
  std::uint64_t block_sum(int first, int count) const;
  // Between this rank and `peer`, of all-to-all collectives.
  std::uint64_t sent_to(int peer) const {
    return send_bytes.empty() ? bytes : send_bytes[static_cast<std::size_t>(peer)];
  }
  std::uint64_t received_from(int peer) const {
    return recv_bytes.empty() ? bytes : recv_bytes[static_cast<std::size_t>(peer)];
  }
};

// Turns an algorithm's messages into primitives. Peers are ranks of the communicator.
class Messages {
 public:
  struct Envelope {
    CallKind call{CallKind::Barrier};
    std::uint16_t context{0};
    std::int32_t tag{0};
  };

  Messages(const Envelope& envelope, Communicator communicator, const Communicators& communicators, LocalWork work,
           int ranks_per_node, std::uint32_t& next_request, std::vector<Primitive>& out)
      : envelope_(envelope),
        communicator_(communicator),
        communicators_(communicators),
        work_(work),
        ranks_per_node_(ranks_per_node),
        next_request_(next_request),
        out_(out) {}

  // A message under way.
  using Posted = std::uint32_t;

  // Blocking; other messages may be under way.
  void send(int peer, std::uint64_t bytes);
  void recv(int peer, std::uint64_t bytes);
  void exchange(int destination, std::uint64_t send_bytes, int source, std::uint64_t recv_bytes);
  // As exchange(); messages without bytes are left out. For shares whose sizes both ends know and which may be empty.
  void exchange_filled(int destination, std::uint64_t send_bytes, int source, std::uint64_t recv_bytes);

  // Posted now; complete() completes all of them, which is a step of the collective unless there are none. Each of the
  // blocking forms above is a step.
  Posted post_send(int peer, std::uint64_t bytes);
  Posted post_recv(int peer, std::uint64_t bytes);
  void complete();
  // Only these, likewise in one step.
  void complete(std::span<const Posted> requests);

  // Nothing if there are no bytes.
  void combine(std::uint64_t bytes);
  void copy(std::uint64_t bytes);
  // Buffers that the library allocates for this call and frees at its end (temporaries.hpp).
  void allocate(std::initializer_list<Temporary> buffers);

  // The number of the rank's node; throws UserError if nobody said which ranks share a node.
  int node_of(int rank) const;
  // The same rank's messages in a group of ranks of the communicator, which outlives the result: peers are places in
  // it.
  Messages among(std::span<const int> members) const;

 private:
  Posted post(PrimitiveKind kind, int peer, std::uint64_t bytes);
  void wait(Posted request);
  void end_step();

  Envelope envelope_;
  Communicator communicator_;
  const Communicators& communicators_;
  LocalWork work_;
  int ranks_per_node_;
  std::span<const int> members_;  // empty: all of the communicator
  std::uint32_t& next_request_;
  std::vector<Primitive>& out_;
  std::uint32_t posted_{0};  // the last so many requests are under way, but for `waited_`
  std::vector<Posted> waited_;
};

using Algorithm = void (*)(const Task& task, Messages& messages);

// The choice of "auto" by call, number of ranks and Call::bytes; see Plan::algorithm for calls with bytes by rank.
using Rules = Algorithm (*)(CallKind kind, int size, std::uint64_t bytes);

// The one algorithm of all neighbour collectives (neighbors.cpp): they have no choice.
void exchange_with_neighbors(const Task& task, Messages& messages);

struct AlgorithmEntry {
  const char* file_name;  // "<collective>_<name>"
  Algorithm run;
};

// Written by the build (algorithms.cpp.in).
std::span<const AlgorithmEntry> algorithms();

// Parts of a reduction of `bytes`, in whole elements of 8 bytes: part i of n starts at part_start(i).
inline constexpr std::uint64_t kElementBytes = 8;

constexpr std::uint64_t part_start(std::uint64_t bytes, int parts, int i) {
  const std::uint64_t elements = bytes / kElementBytes;
  const auto count = static_cast<std::uint64_t>(parts);
  const auto index = static_cast<std::uint64_t>(i);
  if (i == parts) {
    return bytes;
  }
  return kElementBytes * (elements / count * index + std::min(index, elements % count));
}

// The largest power of two not above `size`.
constexpr int power_of_two_below(int size) {
  int power = 1;
  while (2 * power <= size) {
    power *= 2;
  }
  return power;
}

}  // namespace manynode::collectives
