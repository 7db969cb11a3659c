// A simple machine that executes primitives without time: messages match as in MPI, and each carries what its sender
// knows.
//
// What a rank knows is how often each rank's contribution is in its data. A receive alone makes contributions known;
// one followed by ReduceLocal adds them, so that a contribution combined twice shows as 2.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"

namespace manynode::test {

// By rank: how often its contribution is in the data. Unsigned, because repeated sums over all ranks wrap around.
using Known = std::vector<std::uint32_t>;

enum class SendMode {
  Eager,       // a send completes at once
  Rendezvous,  // a send completes when its receive has been posted: what must not deadlock anywhere
};

class Matcher {
 public:
  Matcher(std::vector<std::vector<Primitive>> programs, SendMode mode) : mode_(mode), ranks_(programs.size()) {
    for (std::size_t r = 0; r < programs.size(); ++r) {
      ranks_[r].program = std::move(programs[r]);
      ranks_[r].known.assign(programs.size(), 0);
      ranks_[r].known[r] = 1;
      ranks_[r].from_below.assign(programs.size(), 0);
      ranks_[r].incoming.assign(programs.size(), 0);
    }
  }

  void forget(int rank) { std::fill(at(rank).known.begin(), at(rank).known.end(), 0); }

  // Executes until nothing moves; the test fails when a program or a message is left.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        while (advance(static_cast<int>(r))) {
          moved = true;
        }
      }
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      EXPECT_EQ(ranks_[r].position, ranks_[r].program.size()) << "rank " << r << " is stuck";
      EXPECT_TRUE(ranks_[r].pending.empty()) << "rank " << r << " left requests";
    }
    for (const auto& [key, queue] : sent_) {
      EXPECT_TRUE(queue.empty()) << "a message from " << std::get<0>(key) << " to " << std::get<1>(key) << " is left";
    }
    for (const auto& [key, queue] : awaited_) {
      EXPECT_TRUE(queue.empty()) << "a receive from " << std::get<0>(key) << " at " << std::get<1>(key) << " is left";
    }
  }

  const Known& known(int rank) const { return ranks_[static_cast<std::size_t>(rank)].known; }
  // The sum of what came in messages from lower ranks: the result of an exscan.
  const Known& from_below(int rank) const { return ranks_[static_cast<std::size_t>(rank)].from_below; }
  std::uint64_t bytes_sent(int rank) const { return ranks_[static_cast<std::size_t>(rank)].bytes_sent; }
  std::uint64_t bytes_received(int rank) const { return ranks_[static_cast<std::size_t>(rank)].bytes_received; }
  std::uint64_t bytes_fresh(int rank) const { return ranks_[static_cast<std::size_t>(rank)].bytes_fresh; }
  std::uint64_t bytes_copied(int rank) const { return ranks_[static_cast<std::size_t>(rank)].bytes_copied; }
  // By ReduceLocal, on all ranks.
  std::uint64_t bytes_combined() const {
    return std::accumulate(ranks_.begin(), ranks_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const Rank& rank) { return sum + rank.bytes_combined; });
  }

 private:
  using Key = std::tuple<int, int, int, int>;  // from, to, context, tag

  struct Rank {
    std::vector<Primitive> program;
    std::size_t position{0};
    Known known;
    Known incoming;
    std::map<std::uint32_t, bool> pending;  // request: complete?
    std::map<std::uint32_t, Known> arrived;
    std::map<std::uint32_t, int> sender_of;  // by request of the receive
    Known from_below;
    std::uint64_t bytes_sent{0};
    std::uint64_t bytes_received{0};
    std::uint64_t bytes_combined{0};
    std::uint64_t bytes_copied{0};
    std::uint64_t bytes_fresh{0};
  };

  struct Message {
    Known known;
    std::uint64_t bytes{0};
    int sender{0};
    std::uint32_t request{0};
  };

  struct Receive {
    int receiver{0};
    std::uint32_t request{0};
    std::uint64_t bytes{0};
  };

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void start(int rank, const Primitive& primitive) {
    const bool fresh = at(rank).pending.emplace(primitive.request, false).second;
    EXPECT_TRUE(fresh) << "rank " << rank << " uses request " << primitive.request << " twice at a time";
    EXPECT_GE(primitive.peer, 0);
    EXPECT_LT(primitive.peer, static_cast<int>(ranks_.size()));
  }

  void deliver(const Key& key) {
    auto& messages = sent_[key];
    auto& receives = awaited_[key];
    while (!messages.empty() && !receives.empty()) {
      const Message message = messages.front();
      const Receive receive = receives.front();
      messages.pop_front();
      receives.pop_front();
      EXPECT_EQ(message.bytes, receive.bytes) << "from " << message.sender << " to " << receive.receiver;
      Rank& receiver = at(receive.receiver);
      receiver.pending[receive.request] = true;
      receiver.arrived[receive.request] = message.known;
      receiver.sender_of[receive.request] = message.sender;
      receiver.bytes_received += message.bytes;
      if (mode_ == SendMode::Rendezvous) {
        at(message.sender).pending[message.request] = true;
      }
    }
  }

  bool advance(int rank) {
    Rank& self = at(rank);
    if (self.position == self.program.size()) {
      return false;
    }
    const Primitive& primitive = self.program[self.position];
    switch (primitive.kind) {
      case PrimitiveKind::Compute:
      case PrimitiveKind::CollectiveCall:
      case PrimitiveKind::CollectiveStep:
        break;
      case PrimitiveKind::CopyLocal:
        self.bytes_copied += primitive.bytes;
        break;
      case PrimitiveKind::FreshMemory:
        self.bytes_fresh += primitive.bytes;
        break;
      case PrimitiveKind::ReduceLocal:
        self.bytes_combined += primitive.bytes;
        // A scan combines what it received with two buffers; the second time, it is known already.
        for (std::size_t i = 0; i < self.known.size(); ++i) {
          self.known[i] += std::exchange(self.incoming[i], 0);
        }
        break;
      case PrimitiveKind::Isend: {
        start(rank, primitive);
        self.bytes_sent += primitive.bytes;
        self.pending[primitive.request] = mode_ == SendMode::Eager;
        const Key key{rank, primitive.peer, primitive.context, primitive.tag};
        sent_[key].push_back({self.known, primitive.bytes, rank, primitive.request});
        deliver(key);
        break;
      }
      case PrimitiveKind::Irecv: {
        start(rank, primitive);
        const Key key{primitive.peer, rank, primitive.context, primitive.tag};
        awaited_[key].push_back({rank, primitive.request, primitive.bytes});
        deliver(key);
        break;
      }
      case PrimitiveKind::Remote:  // its target takes no part
        start(rank, primitive);
        self.bytes_sent += primitive.bytes;
        self.pending[primitive.request] = true;
        break;
      case PrimitiveKind::Wait: {
        const auto request = self.pending.find(primitive.request);
        EXPECT_NE(request, self.pending.end()) << "rank " << rank << " waits for a request that it never made";
        if (request == self.pending.end()) {
          break;
        }
        if (!request->second) {
          return false;
        }
        self.pending.erase(request);
        if (const auto arrived = self.arrived.find(primitive.request); arrived != self.arrived.end()) {
          if (self.sender_of[primitive.request] < rank) {
            for (std::size_t i = 0; i < self.known.size(); ++i) self.from_below[i] += arrived->second[i];
          }
          take(self, arrived->second);
          self.arrived.erase(arrived);
        }
        break;
      }
    }
    ++self.position;
    return true;
  }

  void take(Rank& self, const Known& contributions) {
    const auto next = std::find_if(
        self.program.begin() + static_cast<std::ptrdiff_t>(self.position), self.program.end(),
        [](const Primitive& p) { return p.kind != PrimitiveKind::Wait && p.kind != PrimitiveKind::CollectiveStep; });
    if (next != self.program.end() && next->kind == PrimitiveKind::ReduceLocal) {
      self.incoming = contributions;
      return;
    }
    for (std::size_t i = 0; i < self.known.size(); ++i) {
      self.known[i] = std::max(self.known[i], contributions[i]);
    }
  }

  SendMode mode_;
  std::vector<Rank> ranks_;
  std::map<Key, std::deque<Message>> sent_;
  std::map<Key, std::deque<Receive>> awaited_;
};

// The primitives of every rank of a world in which each rank does `program(mpi)`.
template <typename Program>
std::vector<std::vector<Primitive>> lowered(int size, const CollectiveChoice& choice, const Program& program,
                                            LocalWork work = {}, int ranks_per_node = 0) {
  std::vector<std::vector<Primitive>> all;
  for (int rank = 0; rank < size; ++rank) {
    Communicators communicators(rank, size);
    Calls calls;
    Mpi mpi(rank, size, calls, communicators);
    program(mpi);
    Lowering lowering(rank, choice, communicators, work, ranks_per_node);
    std::vector<Primitive>& primitives = all.emplace_back();
    for (const Call& call : calls.calls) {
      lowering.lower(call, calls, primitives);
    }
  }
  return all;
}

}  // namespace manynode::test
