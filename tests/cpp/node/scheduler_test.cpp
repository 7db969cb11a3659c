// Operations that wait for something late take entries of the scheduler; dispatch waits while all are taken.
#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

constexpr double kMemory = 200;  // cycles of small_node()
constexpr std::uint64_t kFar = 0x10000000;

// Only the scheduler limits how many misses are in flight.
NodeSettings node_with(std::uint32_t entries) {
  NodeSettings settings = small_node();
  settings.core.reorder_buffer = settings.core.load_queue = 4096;
  settings.core.integer_units = settings.core.width;
  settings.fill_buffers = settings.l2_fill_buffers = 64;
  settings.core.scheduler = entries;
  return settings;
}

// Cycles of each round of blocks, whose loads are of lines that no cache has.
double cycles_per_round(const NodeSettings& settings, const std::vector<Block>& blocks) {
  Node node(settings);
  std::uint64_t next = kFar;
  // So many that the reorder buffer fills before they are measured.
  return cycles_each(node, 5000, [&](int) {
    for (const Block& block : blocks) run(node.core(), block, {next += kLine, next += kLine});
  });
}

TEST(Scheduler, HoldsWhatWaitsForLinesAndLimitsTheirOverlap) {
  for (const std::uint32_t overlapping : {2u, 4u, 8u}) {
    const NodeSettings settings = node_with(8 * overlapping);
    const auto dependents = times(8, of(Kind::kInteger, 2, {1}));
    const Block one = block_of(settings, times(1, load(1)) + dependents);
    expect_near(cycles_per_round(settings, {one}), kMemory / overlapping, 4);
    // The same if they come in another block: what counts is the late register.
    const Block first = block_of(settings, times(1, load(1))), second = block_of(settings, dependents, 0x400100);
    expect_near(cycles_per_round(settings, {first, second}), kMemory / overlapping, 4);
  }
}

TEST(Scheduler, IsLeftAtOnceByWhatDependsOnNothingLate) {
  // The first-level fill buffers are the limit: 64 misses at a time.
  const NodeSettings settings = node_with(8);
  const Block block = block_of(settings, times(1, load(1)) + times(8, of(Kind::kInteger, 2)));
  expect_near(cycles_per_round(settings, {block}), kMemory / 64, 4);
}

TEST(Scheduler, IsLeftByALoadThatHasItsAddress) {
  const NodeSettings settings = node_with(4);
  expect_near(cycles_per_round(settings, {block_of(settings, times(1, load(1)))}), kMemory / 64, 4);
}

TEST(Scheduler, HoldsLoadsThatWaitForTheirAddressAndStoresThatWaitForTheirData) {
  const NodeSettings settings = node_with(16);
  // The loads behind the first one have no address before its data is there; they hit.
  Node node(settings);
  const Block block = block_of(settings, times(1, load(1)) + times(4, load(2, 1)) + times(4, store(1)));
  std::uint64_t next = kFar;
  const double found =
      cycles_each(node, 400, [&](int) { run(node.core(), block, {next += kLine, 0, 8, 16, 24, 32, 40, 48, 56}); });
  expect_near(found, kMemory / 2, 4);
}

TEST(Scheduler, HoldsAnOperationOnceHoweverManyLinesItWaitsFor) {
  const NodeSettings settings = node_with(32);
  const Block block = block_of(settings, std::vector{load(1), load(3)} + times(8, of(Kind::kInteger, 2, {1, 3})));
  expect_near(cycles_per_round(settings, {block}), kMemory / 4, 4);
}

TEST(Scheduler, HoldsNeitherMovesNorNopsNorFusedJumps) {
  const NodeSettings settings = node_with(8);
  Instruction fused = branch(1);
  fused.operations = 0;
  const Block block = block_of(settings, times(1, load(1)) + times(4, of(Kind::kMove, 2, {1})) +
                                             times(4, of(Kind::kNone, 3, {1})) + times(4, fused));
  expect_near(cycles_per_round(settings, {block}), kMemory / 64, 4);
}

TEST(Scheduler, DoesNotCountWaitsAsShortAsForAHit) {
  // Data of the first level, 4 cycles late, for operations of another block. 16 of them wait at a time.
  const NodeSettings settings = node_with(8);
  Node node(settings);
  const Block first = block_of(settings, times(1, load(1)));
  const Block second = block_of(settings, times(8, of(Kind::kInteger, 2, {1})), 0x400100);
  const double found = cycles_each(node, 400, [&](int) { run(node.core(), first, {0}), run(node.core(), second); });
  EXPECT_DOUBLE_EQ(found, 9 / 4.0);
}

TEST(Scheduler, DoesNotSlowAChainOfLatencies) {
  const NodeSettings settings = node_with(8);
  Node node(settings);
  const Block block = block_of(settings, times(16, of(Kind::kFloat, 1, {1})));
  const double found = cycles_each(node, 400, [&](int) { run(node.core(), block); });
  expect_near(found, 16.0 * settings.core.float_latency, 1);
}

TEST(Scheduler, ItsFullnessIsChargedToWhatItWaitsFor) {
  const NodeSettings settings = node_with(16);
  Node node(settings);
  const Block block = block_of(settings, times(1, load(1)) + times(8, of(Kind::kInteger, 2, {1})));
  std::uint64_t next = kFar;
  for (int i = 0; i < 400; ++i) run(node.core(), block, {next += kLine});
  const double all = static_cast<double>(node.core().now() / kTick);
  const double base = 400.0 * static_cast<double>(block.instructions.size());
  EXPECT_NEAR(cycles_of(node.core(), Cause::kMemory), all - base, 0.01 * all);
}

TEST(Scheduler, DependentsOfInputsAndLoadsAreThoseThatStartAfterThem) {
  const NodeSettings settings = small_node();
  const Block block = block_of(settings, {of(Kind::kInteger, 2, {1}), load(3, 2), of(Kind::kFloat, 4, {3}),
                                          of(Kind::kInteger, 5, {6}), of(Kind::kMove, 7, {4}), store(4)});
  ASSERT_EQ(block.inputs.size(), 2u);
  ASSERT_EQ(block.inputs[0].reg, 1);
  ASSERT_EQ(block.inputs[1].reg, 6);
  const auto cycles_later = [&](const Dependents& of) {
    return static_cast<double>(of.later) / static_cast<double>(settings.core.cycles(1));
  };
  // Addition at 0, load at 1, multiplication at 1 + 4, store at 1 + 4 + 4.
  EXPECT_EQ(block.input_dependents[0].instructions, 0b100111u);
  EXPECT_DOUBLE_EQ(cycles_later(block.input_dependents[0]), (0 + 1 + 5 + 9) / 4.0);
  EXPECT_EQ(block.input_dependents[1].instructions, 0b001000u);
  ASSERT_EQ(block.load_dependents.size(), 1u);
  EXPECT_EQ(block.load_dependents[0].instructions, 0b100100u);
  EXPECT_DOUBLE_EQ(cycles_later(block.load_dependents[0]), (0 + 4) / 2.0);
}

}  // namespace
}  // namespace manynode::node
