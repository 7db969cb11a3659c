// Bandwidth of a memory domain: rate at saturation, queueing delay below it.
#include <cmath>

#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

NodeSettings node_with(double line_cycles, std::uint32_t channels = 1, std::uint32_t cores = 1) {
  NodeSettings settings = small_node();
  settings.slots = cores;
  settings.core.reorder_buffer = 32;  // how far cores are ahead at the begin and the end
  settings.memory.line_cycles = line_cycles;
  settings.memory.channels = channels;
  return settings;
}

// Cycles per line of cores that read streams of their own as fast as they can. The core that is behind goes on.
double cycles_per_line(const NodeSettings& settings, std::uint32_t cores, std::uint64_t lines,
                       const Instruction& access = load(1)) {
  std::vector<Place> places(cores);
  for (std::uint32_t slot = 0; slot < cores; ++slot) places[slot].slot = places[slot].owner = slot;
  Node node(settings, places);
  const Block block = block_of(settings, {access});
  std::vector<std::uint64_t> next(cores, 0x10000000);
  const auto stream = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::size_t behind = 0;
      for (std::size_t core = 1; core < cores; ++core) {
        if (node.core(core).now() < node.core(behind).now()) behind = core;
      }
      run(node.core(behind), block, {next[behind] += kLine});
    }
  };
  stream(lines / 2);
  const auto clock = [&] {
    Stamp latest = 0;
    for (std::size_t core = 0; core < cores; ++core) latest = std::max(latest, node.core(core).now());
    return static_cast<double>(latest) / static_cast<double>(settings.core.width * kTick);
  };
  const double begin = clock();
  stream(lines);
  return (clock() - begin) / static_cast<double>(lines);
}

TEST(Bandwidth, OneCoreIsLimitedByItsFillBuffersWhileMemoryIsFast) {
  // 10 lines in 200 cycles at 5 % load.
  expect_near(cycles_per_line(node_with(1), 1, 3000), 200 / 10.0, 1);
}

TEST(Bandwidth, CoresThatStreamReachTheRateOfTheDomain) {
  for (const double line_cycles : {3.0, 4.7, 10.0}) {
    for (const std::uint32_t cores : {8u, 16u}) {
      SCOPED_TRACE(line_cycles);
      SCOPED_TRACE(cores);
      expect_near(cycles_per_line(node_with(line_cycles, 1, cores), cores, 12'000), line_cycles, 3);
    }
  }
}

TEST(Bandwidth, ALineThatTakesALargePartOfABucketHasItsTimeOnAverage) {
  for (const double line_cycles : {45.0, 50.0, 80.0, 100.0}) {
    SCOPED_TRACE(line_cycles);
    expect_near(cycles_per_line(node_with(line_cycles, 1, 4), 4, 4'000), line_cycles, 3);
  }
}

TEST(Bandwidth, ALineMayTakeLongerThanABucket) { expect_near(cycles_per_line(node_with(300, 1, 4), 4, 2'000), 300, 3); }

TEST(Bandwidth, WritesTakeTheirPartOfIt) {
  expect_near(cycles_per_line(node_with(10, 1, 4), 4, 12'000, store()), 2 * 10, 3);
}

TEST(Bandwidth, DomainsHaveTheirOwn) {
  NodeSettings settings = node_with(10, 1, 8);
  settings.domains = 2;
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  const Stamp at = settings.core.cycles(1000);
  for (int i = 0; i < 1000; ++i) uncore.transfer(0, at);
  EXPECT_GT(uncore.transfer(0, at), settings.core.cycles(9000));
  EXPECT_EQ(uncore.transfer(1, at), 0u);
}

TEST(Bandwidth, WhatComesLaterIsNotDelayedByWhatHasPassed) {
  const NodeSettings settings = node_with(10);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  for (int i = 0; i < 100; ++i) uncore.transfer(0, settings.core.cycles(1000));  // busy for 1,000 cycles
  EXPECT_EQ(uncore.transfer(0, settings.core.cycles(5000)), 0u);
  EXPECT_EQ(uncore.transfer(0, settings.core.cycles(100)), 0u) << "one that is behind finds its own time free";
}

TEST(Bandwidth, WithoutALimitNothingWaits) {
  const NodeSettings settings = node_with(0);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(uncore.transfer(0, 1000 * kTick), 0u);
}

TEST(Bandwidth, ALineThatIsFarBehindLeavesTheAccountingOfThoseAheadAlone) {
  const NodeSettings settings = node_with(10);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  const Stamp behind = settings.core.cycles(1000), ring = settings.core.cycles(double{kBucketCycles} * kBuckets);
  for (int i = 0; i < 1000; ++i) uncore.transfer(0, behind + ring);
  const Stamp waits = uncore.transfer(0, behind + ring);
  EXPECT_GT(waits, settings.core.cycles(9000));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(uncore.transfer(0, behind), 0u) << "nothing is known of its time";
  EXPECT_GE(uncore.transfer(0, behind + ring), waits);
}

TEST(Bandwidth, AWaitIsWholeTicksWhateverTheCauseOfTheStamp) {
  const NodeSettings settings = node_with(10);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(uncore.transfer(0, stamped(settings.core.cycles(1000), Cause::kTlb)) % kTick, 0u);
  }
}

// Cycles at which the last of so many lines of a message has found its room.
double end_of_message(Uncore& uncore, const NodeSettings& settings, int lines) {
  Stamp at = settings.core.cycles(1000);
  for (int i = 0; i < lines; ++i) at = uncore.transfer_of_message(0, at);
  return static_cast<double>(at) / static_cast<double>(settings.core.width * kTick) - 1000;
}

TEST(Bandwidth, AMessageMovesAtTheRateOfOneChannelAndLeavesTheOthersToTheCores) {
  for (const std::uint32_t channels : {1u, 2u, 4u}) {
    SCOPED_TRACE(channels);
    const NodeSettings settings = node_with(5, channels);
    SharedMemory memory("", Uncore::bytes(settings));
    Uncore uncore(settings, memory.data());
    expect_near(end_of_message(uncore, settings, 5000), 5.0 * channels * 5000, 1);
    if (channels == 1) continue;
    // A line of a core waits as in a queue with the load of the message.
    const double load = 1.0 / channels;
    const Stamp waits = uncore.transfer(0, settings.core.cycles(1000 + 128 * 50));
    expect_near(static_cast<double>(waits) / static_cast<double>(settings.core.width * kTick),
                5.0 * channels * load / (2 * (1 - load)), 25);
  }
}

TEST(Bandwidth, MessagesThatComeTogetherReachTheRateOfTheDomain) {
  const NodeSettings settings = node_with(5, 4);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  double last = 0;
  for (int message = 0; message < 8; ++message) last = std::max(last, end_of_message(uncore, settings, 1000));
  expect_near(last, 5.0 * 8 * 1000, 8);
}

// Mean wait in cycles of lines that arrive at random at this part of the bandwidth.
double mean_wait(const NodeSettings& settings, double load) {
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  std::mt19937_64 random(5);
  std::exponential_distribution<double> apart(load / settings.memory.line_cycles);
  double at = 0, sum = 0;
  constexpr int kLines = 30'000;
  for (int i = 0; i < kLines; ++i) {
    at += apart(random);
    sum += static_cast<double>(uncore.transfer(0, settings.core.cycles(at)));
  }
  return sum / kLines / static_cast<double>(settings.core.width * kTick);
}

TEST(Bandwidth, BelowSaturationALineWaitsAsInAQueueWithFixedServiceTime) {
  // M/D/1: service x load / (2 (1 - load)). The load is estimated from 128 cycles: the formula's curvature adds to the
  // mean. A wait is cut to whole ticks, of which a cycle has 4.
  for (const double load : {0.2, 0.4, 0.6}) {
    for (const std::uint32_t channels : {1u, 4u}) {
      SCOPED_TRACE(load);
      SCOPED_TRACE(channels);
      const double line_cycles = 2, service = line_cycles * channels, formula = service * load / (2 * (1 - load));
      EXPECT_NEAR(mean_wait(node_with(line_cycles, channels), load), formula, 0.15 * formula + 0.125);
    }
  }
}

TEST(Bandwidth, DelaysGrowWithTheLoad) {
  double before = 0;
  for (const double load : {0.1, 0.3, 0.5, 0.7, 0.9, 1.1}) {
    const double wait = mean_wait(node_with(4, 2), load);
    EXPECT_GT(wait, before) << load;
    before = wait;
  }
}

TEST(Bandwidth, WaitingForABusyMemoryIsChargedToBandwidth) {
  const NodeSettings settings = node_with(100);
  Node node(settings);
  const Block block = block_of(settings, {load(1)});
  for (std::uint64_t i = 0; i < 1000; ++i) run(node.core(), block, {0x10000000 + i * kLine});
  node.core().drain();
  // Of 1,000 cycles for 10 lines, 200 are memory's latency.
  const double all = static_cast<double>(node.core().now() / kTick);
  EXPECT_GT(cycles_of(node.core(), Cause::kBandwidth) / all, 0.6);
  EXPECT_LT(cycles_of(node.core(), Cause::kMemory) / all, 0.35);
}

}  // namespace
}  // namespace manynode::node
