// Simulated clocks of a node's cores: threads stand for ranks.
#include "clocks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "shared_memory.hpp"

namespace manynode::node {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kQuantum = 1000;
constexpr double kLong = 60, kShort = 0.05;  // seconds of patience

// Clocks of so many ranks, all of which compute from 0 on.
class Ranks {
 public:
  explicit Ranks(std::uint32_t count, double patience = kLong, std::uint64_t quantum = kQuantum)
      : memory_("", Clocks::bytes(count)), clocks_(memory_.data(), count, quantum, patience) {
    for (std::uint32_t slot = 0; slot < count; ++slot) clocks_.begin(slot, 0);
  }
  Clocks* operator->() { return &clocks_; }

 private:
  SharedMemory memory_;
  Clocks clocks_;
};

// A rank that tries to go on to `clock`.
class Advancing {
 public:
  Advancing(Ranks& ranks, std::uint32_t slot, std::uint64_t clock)
      : thread_([&ranks, slot, clock, this] {
          ranks->advance(slot, clock);
          done_ = true;
        }) {}
  ~Advancing() { thread_.join(); }
  bool is_held() const {
    std::this_thread::sleep_for(60ms);
    return !done_;
  }
  bool goes_on() const {
    for (int i = 0; i < 400 && !done_; ++i) std::this_thread::sleep_for(5ms);
    return done_;
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST(Clocks, ACoreMayBeAQuantumAheadOfAnotherOneThatComputes) {
  Ranks ranks(2);
  EXPECT_EQ(ranks->advance(0, kQuantum), kQuantum + kQuantum / 2 + 1) << "when to look again";
  EXPECT_EQ(ranks->counts(0).waits, 0u);
}

TEST(Clocks, ACoreMoreThanAQuantumAheadWaitsForTheOther) {
  Ranks ranks(2);
  const Advancing ahead(ranks, 0, kQuantum + 1);
  EXPECT_TRUE(ahead.is_held());
  ranks->advance(1, 1);
  EXPECT_TRUE(ahead.goes_on());
  EXPECT_EQ(ranks->counts(0).waits, 1u);
  EXPECT_EQ(ranks->counts(0).forced, 0u);
  EXPECT_GT(ranks->counts(0).waited_s, 0);
}

TEST(Clocks, NoCoreGetsMoreThanAQuantumAheadOfTheSlowest) {
  constexpr std::uint32_t kCores = 4;
  constexpr std::uint64_t kEnd = 40 * kQuantum;
  Ranks ranks(kCores);
  std::array<std::atomic<std::uint64_t>, kCores> clocks{};
  std::atomic<std::uint64_t> most_ahead{0};
  std::vector<std::thread> threads;
  for (std::uint32_t slot = 0; slot < kCores; ++slot) {
    threads.emplace_back([&, slot] {
      std::uint64_t clock = 0, next = 0;
      while (clock < kEnd) {
        clock += 50 + 37 * slot;  // some are faster
        clocks[slot] = clock;
        if (clock < next) continue;
        next = ranks->advance(slot, clock);
        std::uint64_t slowest = kEnd;
        for (const auto& other : clocks) slowest = std::min(slowest, other.load());
        std::uint64_t ahead = clock - std::min(clock, slowest), old = most_ahead;
        while (old < ahead && !most_ahead.compare_exchange_weak(old, ahead)) {
        }
      }
      ranks->leave(slot);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // The clocks of others have been seen when they last advanced, at most half a quantum and a step before.
  EXPECT_LE(most_ahead.load(), kQuantum + 50 + 37 * kCores);
  for (std::uint32_t slot = 0; slot < kCores; ++slot) EXPECT_EQ(ranks->counts(slot).forced, 0u);
}

TEST(Clocks, ARankInACallHoldsTheOthersUntilItHasLookedInVain) {
  Ranks ranks(2);
  ranks->end(1, 0, false);
  const Advancing ahead(ranks, 0, 5 * kQuantum);
  EXPECT_TRUE(ahead.is_held()) << "it may be about to compute again";
  ranks->look(1);
  ranks->looked_in_vain(1);
  EXPECT_TRUE(ahead.goes_on());
}

TEST(Clocks, ARankThatWaitsHoldsTheOthersAgainAfterAnEvent) {
  Ranks ranks(3);
  ranks->end(1, 0, false);
  ranks->look(1);
  ranks->looked_in_vain(1);
  ranks->end(2, 10, false);
  ranks->begin(2, 20);  // the end of a call may have sent what rank 1 waits for
  ranks->end(2, 20, true);
  const Advancing ahead(ranks, 0, 5 * kQuantum);
  EXPECT_TRUE(ahead.is_held());
  ranks->look(1);
  ranks->looked_in_vain(1);
  EXPECT_TRUE(ahead.goes_on());
}

TEST(Clocks, ALookThatBeganBeforeAnEventIsNotInVain) {
  Ranks ranks(3);
  ranks->end(1, 0, false);
  ranks->look(1);
  ranks->end(2, 10, false);
  ranks->begin(2, 20);
  ranks->end(2, 20, true);
  ranks->looked_in_vain(1);  // it saw the state before
  const Advancing ahead(ranks, 0, 5 * kQuantum);
  EXPECT_TRUE(ahead.is_held());
  ranks->look(1);
  ranks->looked_in_vain(1);
  EXPECT_TRUE(ahead.goes_on());
}

TEST(Clocks, ARankThatWaitsBlindlyDoesNotHoldTheOthers) {
  Ranks ranks(2);
  ranks->end(1, 0, true);
  ranks->advance(0, 100 * kQuantum);
  EXPECT_EQ(ranks->counts(0).waits, 0u);
}

TEST(Clocks, ARankThatLeavesReleasesTheOthers) {
  Ranks ranks(2);
  const Advancing ahead(ranks, 0, 100 * kQuantum);
  EXPECT_TRUE(ahead.is_held());
  ranks->leave(1);
  EXPECT_TRUE(ahead.goes_on());
}

TEST(Clocks, AThreadHoldsTheOthersWhileItRuns) {
  Ranks ranks(2);
  ranks->thread_stops(1, 0);
  ranks->advance(0, 5 * kQuantum);
  EXPECT_EQ(ranks->counts(0).waits, 0u);
  ranks->thread_begins(1, 5 * kQuantum);
  const Advancing ahead(ranks, 0, 7 * kQuantum);
  EXPECT_TRUE(ahead.is_held());
  ranks->thread_stops(1, 5 * kQuantum + 10);
  EXPECT_TRUE(ahead.goes_on());
}

TEST(Clocks, ATimeOutReleasesAndIsCounted) {
  Ranks ranks(2, kShort);
  ranks->end(1, 0, false);  // it neither looks nor computes
  ranks->advance(0, 5 * kQuantum);
  EXPECT_EQ(ranks->counts(0).forced, 1u);
  EXPECT_GE(ranks->counts(0).waited_s, kShort);
  EXPECT_LT(ranks->counts(0).waited_s, 100 * kShort);
}

TEST(Clocks, ACoreThatWasPassedHoldsNobodyUntilItDoesSomething) {
  Ranks ranks(2, kShort);
  ranks->end(1, 0, false);
  ranks->advance(0, 5 * kQuantum);
  const double waited = ranks->counts(0).waited_s;
  for (std::uint64_t quantum = 6; quantum < 100; ++quantum) ranks->advance(0, quantum * kQuantum);
  EXPECT_EQ(ranks->counts(0).waited_s, waited) << "the time-out is waited for once";
  EXPECT_EQ(ranks->counts(0).forced, 95u) << "each synchronisation without it is counted";
  ranks->begin(1, 0);
  ranks->advance(0, 100 * kQuantum);
  EXPECT_GE(ranks->counts(0).waited_s, waited + kShort) << "it computes: it is waited for again";
}

TEST(Clocks, ARankInACallHoldsNobodyWhoseClockIsBehindItsOwn) {
  Ranks ranks(2);
  ranks->end(1, 7 * kQuantum, false);  // it goes on no earlier
  ranks->advance(0, 8 * kQuantum);
  EXPECT_EQ(ranks->counts(0).waits, 0u);
  const Advancing ahead(ranks, 0, 8 * kQuantum + 1);
  EXPECT_TRUE(ahead.is_held());
  ranks->leave(1);
  EXPECT_TRUE(ahead.goes_on());
}

TEST(Clocks, ARankThatHasWaitedStandsWhereOthersHaveReleasedIt) {
  Ranks ranks(2);
  ranks->end(1, 300, false);
  EXPECT_EQ(ranks->inside(1, 300), 300u);
  ranks->look(1);
  ranks->looked_in_vain(1);
  ranks->end(0, 900, false);
  EXPECT_EQ(ranks->inside(1, 300), 900u);
  EXPECT_EQ(ranks->begin(1, 300), 900u) << "asking changes nothing";
}

TEST(Clocks, WithoutAQuantumEachCoreRunsForItself) {
  Ranks ranks(2, kLong, 0);
  EXPECT_EQ(ranks->advance(0, 1'000'000), UINT64_MAX);
  ranks->end(1, 0, false);
  EXPECT_EQ(ranks->begin(1, 77), 77u);
}

TEST(Clocks, ARankThatDidNotWaitGoesOnAtItsOwnClock) {
  Ranks ranks(2);
  ranks->end(0, 900, false);
  ranks->begin(0, 900);
  ranks->end(1, 300, false);
  EXPECT_EQ(ranks->begin(1, 300), 300u) << "its message was there";
}

TEST(Clocks, ARankThatWaitedGoesOnWhenAnotherOneLeftItsCall) {
  Ranks ranks(2);
  ranks->end(1, 300, false);
  ranks->look(1);
  ranks->looked_in_vain(1);
  ranks->end(0, 900, false);
  ranks->begin(0, 900);
  EXPECT_EQ(ranks->begin(1, 300), 900u);
  ranks->end(1, 950, false);
  EXPECT_EQ(ranks->begin(1, 950), 950u) << "it has not waited again";
}

// The last rank comes to a barrier; the first one leaves it before the last one does.
TEST(Clocks, ARankThatWaitedGoesOnNoEarlierThanTheCallThatReleasedIt) {
  for (const bool blind : {false, true}) {
    Ranks ranks(2);
    ranks->end(1, 300, blind);
    if (!blind) {
      ranks->look(1);
      ranks->looked_in_vain(1);
    }
    ranks->end(0, 900, blind);
    EXPECT_EQ(ranks->begin(1, 300), 900u);
  }
}

TEST(Clocks, JoinWaitsForAllRanksAndGivesUp) {
  SharedMemory memory("", Clocks::bytes(2));
  Clocks first(memory.data(), 2, kQuantum), second(memory.data(), 2, kQuantum);
  EXPECT_FALSE(first.join(2, 0.03));
  EXPECT_TRUE(second.join(2, 0.03)) << "the first one is counted";
}

}  // namespace
}  // namespace manynode::node
