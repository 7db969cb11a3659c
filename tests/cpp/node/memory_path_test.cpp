// Levels of one core's memory: latencies by pointer chases, capacities, lines under way, counts, write-backs.
#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

// Cycles of each step of a pointer chase through these addresses, when they have been visited twice before.
double chase(Node& node, const std::vector<std::uint64_t>& addresses) {
  const Block block = block_of(node.settings(), {load(1, 1)});
  const auto once = [&] {
    for (const std::uint64_t address : addresses) run(node.core(), block, {address});
  };
  once();
  once();
  node.core().drain();
  const double begin = cycles(node.core(), node.settings());
  once();
  node.core().drain();
  return (cycles(node.core(), node.settings()) - begin) / static_cast<double>(addresses.size());
}
double chase(const NodeSettings& settings, const std::vector<std::uint64_t>& addresses) {
  Node node(settings);
  return chase(node, addresses);
}

TEST(MemoryPath, AChaseTakesTheLatencyOfTheLevelThatHoldsIt) {
  const NodeSettings settings = small_node();
  expect_near(chase(settings, chase_of(kL1Lines / 2)), 4, 1);
  expect_near(chase(settings, chase_of(kL2Lines / 2)), 14, 1);
  // Sets of the last level are hashed: a few of 64 hold more than their share of a half.
  expect_near(chase(settings, chase_of(kLastLevelLines / 2)), 50, 3);
  expect_near(chase(settings, chase_of(kLastLevelLines * 4)), 200, 1);
}

TEST(MemoryPath, ALevelHoldsExactlyItsCapacityAndNothingOfALargerCycle) {
  const NodeSettings settings = small_node();
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL1Lines)), 4);
  // Least recently used: of a cycle with one line more than ways in each set, each access misses.
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL1Lines + 16)), 14);
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL2Lines)), 14);
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL2Lines + 64)), 50);
}

TEST(MemoryPath, LatenciesCountInCyclesWhateverTheWidth) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 6;
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL1Lines)), 4);
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL2Lines)), 14);
}

TEST(MemoryPath, WithoutASecondLevelMissesGoToTheLastLevel) {
  NodeSettings settings = small_node();
  settings.has_l2 = false;
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(kL1Lines + 16)), 50);
}

TEST(MemoryPath, LongerLinesHoldMore) {
  NodeSettings settings = small_node();
  settings.line_bits = 7;
  EXPECT_DOUBLE_EQ(chase(settings, chase_of(2 * kL1Lines)), 4);
}

TEST(MemoryPath, AHitOnALineUnderWayWaitsForIt) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block warm = block_of(settings, times(40, of(Kind::kNone)));
  run(node.core(), warm);
  const double begin = cycles(node.core(), settings);
  // The second load does not depend on the first, which misses: both have their data after 200 cycles. A chain of
  // loads begins when the line is asked for: it adds a hit.
  run(node.core(), block_of(settings, {load(1), load(2), load(3, 2)}), {0x8000, 0x8008, 0x8010});
  node.core().drain();
  EXPECT_DOUBLE_EQ(cycles(node.core(), settings) - begin, 200 + 4);
  EXPECT_EQ(node.core().memory.counts.l1d_misses, 1u);
}

TEST(MemoryPath, ALineUnderWayToTheSecondLevelIsWaitedFor) {
  NodeSettings settings = small_node();
  settings.l1d = {1, 1, 4, Prefetch::kNone};  // one line
  Node node(settings);
  run(node.core(), block_of(settings, times(3, of(Kind::kNone))));
  const double begin = cycles(node.core(), settings);
  const std::uint64_t misses = node.core().memory.counts.l2_misses;
  // The third load asks the second level again for the line of the first.
  run(node.core(), block_of(settings, {load(1), load(2), load(3)}), {0x8000, 0x9000, 0x8000});
  node.core().drain();
  // The second is dispatched a quarter of a cycle after the first, and all wait at the same time.
  EXPECT_NEAR(cycles(node.core(), settings) - begin, 200, 0.5);
  EXPECT_EQ(node.core().memory.counts.l2_misses - misses, 2u);
}

TEST(MemoryPath, AStreamMissesEachLineOnceInEachLevel) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, times(8, load(1)));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t at = 0x100000 + i * kLine;
    run(node.core(), block, {at, at + 8, at + 16, at + 24, at + 32, at + 40, at + 48, at + 56});
  }
  const MemoryCounts& counts = node.core().memory.counts;
  EXPECT_EQ(counts.l1d_misses, 1000u);
  EXPECT_EQ(counts.l2_misses, 1000u + counts.l1i_misses);
  EXPECT_EQ(counts.last_level_misses, counts.l2_misses);
  EXPECT_EQ(counts.memory_lines, counts.l2_misses);
  EXPECT_EQ(counts.prefetches, 0u);
}

// Lines that a stream of so many lines moves to and from memory, for each line, when all caches are full of it.
double lines_moved(const NodeSettings& settings, const Instruction& access) {
  Node node(settings);
  const Block block = block_of(settings, {access});
  std::uint64_t next = 0x100000;
  const auto stream = [&](int lines) {
    for (int i = 0; i < lines; ++i) run(node.core(), block, {next += kLine});
  };
  stream(4 * kLastLevelLines);
  const std::uint64_t before = node.core().memory.counts.memory_lines;
  stream(4 * kLastLevelLines);
  return static_cast<double>(node.core().memory.counts.memory_lines - before) / (4 * kLastLevelLines);
}

TEST(MemoryPath, AStreamOfWritesMovesEachLineTwice) {
  for (const bool has_l2 : {true, false}) {
    for (const Inclusion inclusion : {Inclusion::kNeither, Inclusion::kInclusive, Inclusion::kVictim}) {
      SCOPED_TRACE(static_cast<int>(inclusion));
      SCOPED_TRACE(has_l2);
      NodeSettings settings = small_node();
      settings.has_l2 = has_l2;
      settings.last_level.inclusion = inclusion;
      settings.frames_by_hash = true;
      // An inclusive last level now and then recalls the line of the code.
      expect_near(lines_moved(settings, load(1)), 1, 0.2);
      expect_near(lines_moved(settings, store()), 2, 1);
    }
  }
}

TEST(MemoryPath, WritesThatStayInACacheMoveNothing) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, {store()});
  for (int round = 0; round < 20; ++round) {
    for (const std::uint64_t address : chase_of(kL2Lines)) run(node.core(), block, {address});
  }
  EXPECT_EQ(node.core().memory.counts.memory_lines, kL2Lines + node.core().memory.counts.l1i_misses);
}

TEST(MemoryPath, AnAccessThatCrossesALineTouchesBoth) {
  const NodeSettings settings = small_node();
  for (const Instruction& access : {load(1), store()}) {
    Node node(settings);
    const Block block = block_of(settings, {access});
    run(node.core(), block, {0x8000 + kLine - 4});
    EXPECT_EQ(node.core().memory.counts.l1d_misses, 2u);
    run(node.core(), block, {0x8000});
    run(node.core(), block, {0x8000 + kLine});
    EXPECT_EQ(node.core().memory.counts.l1d_misses, 2u) << "both are there";
    run(node.core(), block, {0x9000 + kLine - 8});
    EXPECT_EQ(node.core().memory.counts.l1d_misses, 3u) << "this one ends with its line";
  }
}

TEST(MemoryPath, AnAccessThatCrossesALineWaitsForTheLaterOne) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, {load(1, 1)});
  run(node.core(), block, {0x8000});
  node.core().drain();
  const double begin = cycles(node.core(), settings);
  run(node.core(), block, {0x8000 + kLine - 4});
  node.core().drain();
  EXPECT_DOUBLE_EQ(cycles(node.core(), settings) - begin, 200);
}

TEST(MemoryPath, MissesOfTheInstructionCacheAreWaitedForAndCharged) {
  const NodeSettings settings = small_node();
  Node node(settings);
  // 32 instructions of two bytes fill a line; 128 lines are twice the instruction cache and half the second level.
  std::vector<Block> code;
  for (std::uint64_t i = 0; i < 128; ++i) {
    code.push_back(block_of(settings, times(32, of(Kind::kNone)), 0x400000 + i * kLine));
  }
  const auto all = [&](int) {
    for (const Block& block : code) run(node.core(), block);
  };
  EXPECT_DOUBLE_EQ(cycles_each(node, 4, all) / 128, 32 / 4.0 + 14);
  EXPECT_EQ(node.core().memory.counts.l1i_misses, 8 * 128u);
  EXPECT_DOUBLE_EQ(cycles_of(node.core(), Cause::kInstructions) / 4, 128 * 200 + 7 * 128 * 14);
}

TEST(MemoryPath, CodeThatFitsIsFetchedOnce) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, times(100, of(Kind::kNone)));  // 200 bytes: 4 lines
  for (int i = 0; i < 10; ++i) run(node.core(), block);
  EXPECT_EQ(node.core().memory.counts.l1i_misses, 4u);
}

}  // namespace
}  // namespace manynode::node
