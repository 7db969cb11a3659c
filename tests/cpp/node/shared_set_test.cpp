// One set of a last-level cache: its lines, its lock, and what processes that use it at once may do to each other.
#include <atomic>
#include <thread>

#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

// All lines fall into the only set.
NodeSettings cache_of(Inclusion inclusion, std::uint32_t ways) {
  NodeSettings settings = small_node();
  settings.last_level.inclusion = inclusion;
  settings.last_level.sets = 1;
  settings.last_level.ways = ways;
  return settings;
}

TEST(SharedSet, ALineThatWasTakenOutOfAnInclusiveCacheIsNotRecalledLater) {
  const NodeSettings settings = cache_of(Inclusion::kInclusive, 4);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  for (std::uint64_t line = 1; line <= 4; ++line) uncore.read(0, line, 0);
  EXPECT_TRUE(uncore.remove(0, 2, 0));
  EXPECT_EQ(uncore.read(0, 5, 0).victim, 0u) << "there is an empty way";
  EXPECT_EQ(uncore.read(0, 6, 0).victim, named(1, 0));
}

TEST(SharedSet, ACacheOfOneWayHoldsOneLine) {
  for (const Inclusion inclusion : {Inclusion::kNeither, Inclusion::kInclusive}) {
    const NodeSettings settings = cache_of(inclusion, 1);
    SharedMemory memory("", Uncore::bytes(settings));
    Uncore uncore(settings, memory.data());
    EXPECT_FALSE(uncore.read(0, 1, 0).hit);
    EXPECT_TRUE(uncore.read(0, 1, 0).hit);
    EXPECT_FALSE(uncore.read(0, 2, 0).hit);
    EXPECT_TRUE(uncore.remove(0, 2, 0));
    EXPECT_FALSE(uncore.remove(0, 2, 0));
  }
}

// Each thread has lines of its own in the only set, which has room for all: every answer is known beforehand. Threads
// stand for processes here: each has an Uncore on the same memory.
TEST(SharedSet, ASetThatManyUseAtOnceLosesAndDoublesNoLine) {
  constexpr int kThreads = 4, kRounds = 150'000;
  for (const Inclusion inclusion : {Inclusion::kNeither, Inclusion::kVictim, Inclusion::kInclusive}) {
    SCOPED_TRACE(static_cast<int>(inclusion));
    const NodeSettings settings = cache_of(inclusion, 16);
    SharedMemory memory("", Uncore::bytes(settings));
    std::atomic<int> wrong{0}, begun{0};
    std::atomic<std::uint64_t> broken{0};
    const auto use = [&](std::uint32_t owner) {
      Uncore uncore(settings, memory.data());
      const auto expect = [&](bool right) { wrong += !right; };
      ++begun;
      while (begun < kThreads) std::this_thread::yield();
      std::mt19937 random(owner);
      bool held[4] = {}, dirty[4] = {};
      for (int round = 0; round < kRounds; ++round) {
        const std::uint32_t which = random() % 4, what = random() % 3;
        const std::uint64_t line = 100 + which;
        if (what == 0) {
          expect(uncore.remove(0, line, owner) == held[which]);
          held[which] = dirty[which] = false;
        } else if (what == 1) {
          const Uncore::Answer answer = uncore.write_back(0, line, owner, true);
          expect(answer.hit == held[which] && answer.victim == 0 && !answer.replaces_dirty);
          held[which] = dirty[which] = true;
        } else {
          const Uncore::Answer answer = uncore.read(0, line, owner);
          expect(answer.hit == held[which] && answer.victim == 0 && !answer.replaces_dirty);
          if (inclusion == Inclusion::kVictim) {
            expect(answer.was_dirty == dirty[which]);
            held[which] = dirty[which] = false;
          } else {
            held[which] = true;
          }
        }
      }
      for (int which = 0; which < 4; ++which) {
        expect(uncore.remove(0, 100 + static_cast<std::uint64_t>(which), owner) == held[which]);
        expect(!uncore.remove(0, 100 + static_cast<std::uint64_t>(which), owner));
      }
      broken += uncore.broken_locks();
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t owner = 0; owner < kThreads; ++owner) threads.emplace_back(use, owner);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(broken, 0u);
  }
}

}  // namespace
}  // namespace manynode::node
