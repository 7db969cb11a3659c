// Paths between caches: a line every so many cycles, whatever the order of the requests.
#include "rate_limit.hpp"

#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

constexpr Stamp kCycle = 4 * kTick;

TEST(RateLimit, WithoutAnIntervalNothingWaits) {
  RateLimit limit(0, kCycle);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limit.take(0), 0u);
}

TEST(RateLimit, LinesThatComeAtOnceLeaveAtTheRate) {
  for (const Stamp interval : {2 * kCycle, 2 * kCycle + 10 * kTick / 4}) {
    RateLimit limit(interval, kCycle);
    Stamp last = 0;
    constexpr int kLines = 1000;
    for (int i = 0; i < kLines; ++i) last = std::max(last, 5 * kCycle + limit.take(5 * kCycle));
    expect_near(static_cast<double>(last), static_cast<double>(kLines * interval), 4);
  }
}

TEST(RateLimit, LinesThatComeSlowlyDoNotWait) {
  RateLimit limit(2 * kCycle, kCycle);
  for (Stamp at = 0; at < 1000 * kCycle; at += 2 * kCycle) EXPECT_EQ(limit.take(at), 0u);
}

TEST(RateLimit, ALineDoesNotPayForOnesThatComeLater) {
  RateLimit limit(2 * kCycle, kCycle);
  for (int i = 0; i < 50; ++i) limit.take(5000 * kCycle);
  EXPECT_EQ(limit.take(100 * kCycle), 0u);
}

TEST(RateLimit, WaitsAreWholeTicks) {
  RateLimit limit(3 * kCycle, kCycle);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(limit.take(7 * kCycle + 3) % kTick, 0u);
}

TEST(RateLimit, WhatKeepsThePathDelaysLines) {
  RateLimit limit(2 * kCycle, kCycle);
  Stamp last = 0;
  constexpr int kLines = 1000;
  for (int i = 0; i < kLines; ++i) {
    last = std::max(last, limit.take(0));
    limit.keep(0, 3 * kCycle);
  }
  expect_near(static_cast<double>(last), static_cast<double>(kLines * 5 * kCycle), 4);
}

// Each line that is written comes in, and goes back.
TEST(RateLimit, WrittenLinesTakeThePathToTheSecondLevelTwice) {
  NodeSettings settings = small_node();
  settings.fill_buffers = settings.l2_fill_buffers = 64;
  settings.l2.line_interval = 3;
  settings.l2.write_interval = 4;
  for (const auto& [instruction, cycles] : {std::pair{load(1), 3.0}, std::pair{store(), 7.0}}) {
    Node node(settings);
    const Block block = block_of(settings, {instruction});
    const auto around = [&](int) {
      for (std::uint64_t line = 0; line < kL2Lines / 2; ++line) run(node.core(), block, {0x10000000 + line * kLine});
    };
    expect_near(cycles_each(node, 20, around) / (kL2Lines / 2.0), cycles, 3);
  }
}

// A loop over the lines of the second level is as fast as it gives them.
TEST(RateLimit, IndependentMissesTakeTheIntervalOfTheLevelThatHoldsThem) {
  NodeSettings settings = small_node();
  settings.fill_buffers = settings.l2_fill_buffers = 64;
  settings.l2.line_interval = 3;
  settings.last_level.line_interval = 5;
  for (const auto& [lines, interval] : {std::pair{kL2Lines / 2, 3.0}, std::pair{kL2Lines * 2, 5.0}}) {
    Node node(settings);
    const Block block = block_of(settings, {load(1)});
    const auto around = [&](int) {
      for (std::uint64_t line = 0; line < lines; ++line) run(node.core(), block, {0x10000000 + line * kLine});
    };
    expect_near(cycles_each(node, 20, around) / static_cast<double>(lines), interval, 3);
  }
}

}  // namespace
}  // namespace manynode::node
