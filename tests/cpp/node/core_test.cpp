// Dispatch, latencies and units of a core without misses: cycles are sums of named latencies.
#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

// Cycles of each of many runs of a block whose accesses all hit.
double cycles_of_block(const NodeSettings& settings, const std::vector<Instruction>& instructions) {
  Node node(settings);
  const Block block = block_of(settings, instructions);
  return cycles_each(node, 400, [&](int) { run(node.core(), block); });
}

TEST(Core, DispatchesAsManyOperationsPerCycleAsItIsWide) {
  for (const std::uint32_t width : {1u, 2u, 4u, 6u}) {
    NodeSettings settings = small_node();
    settings.core.width = settings.core.integer_units = width;
    EXPECT_DOUBLE_EQ(cycles_of_block(settings, times(24, of(Kind::kInteger))), 24.0 / width) << width;
  }
}

TEST(Core, DispatchesAFusedJumpWithTheInstructionBeforeIt) {
  Instruction jump = branch();
  jump.operations = 0;
  EXPECT_DOUBLE_EQ(cycles_of_block(small_node(), times(4, of(Kind::kInteger)) + std::vector{jump}), 1);
}

TEST(Core, DispatchesAnInstructionOfManyOperationsInAsManySlots) {
  Instruction complex = of(Kind::kInteger);
  complex.operations = 10;
  EXPECT_DOUBLE_EQ(cycles_of_block(small_node(), times(2, complex)), 2 * 10 / 4.0);
}

TEST(Core, NeedsTheSumOfLatenciesForAChain) {
  NodeSettings settings = small_node();
  settings.core.float_add_latency = settings.core.float_latency - 1;
  const CoreSettings& core = settings.core;
  const std::vector<std::pair<Kind, double>> latencies{{Kind::kInteger, 1},
                                                       {Kind::kVector, 1},
                                                       {Kind::kMultiply, core.multiply_latency},
                                                       {Kind::kDivide, core.divide_latency},
                                                       {Kind::kFloat, core.float_latency},
                                                       {Kind::kFloatAdd, core.float_add_latency},
                                                       {Kind::kFloatCompare, core.transfer_latency + 1},
                                                       {Kind::kConvert, core.transfer_latency + core.float_latency},
                                                       {Kind::kTransfer, core.transfer_latency},
                                                       {Kind::kFloatDivide, core.float_divide_latency}};
  for (const auto& [kind, latency] : latencies) {
    const double found = cycles_of_block(settings, times(20, of(kind, 1, {1})));
    EXPECT_DOUBLE_EQ(found, 20 * latency) << static_cast<int>(kind);
  }
}

TEST(Core, NeedsNoTimeForMovesBetweenRegisters) {
  const std::vector<Instruction> chain{of(Kind::kInteger, 1, {1}), of(Kind::kMove, 2, {1}), of(Kind::kMove, 1, {2})};
  EXPECT_DOUBLE_EQ(cycles_of_block(small_node(), chain), 1);
}

TEST(Core, AddsTheLatenciesOfAChainOfDifferentKindsAndALoad) {
  const NodeSettings settings = small_node();
  Node node(settings);
  // r1 -> load (4) -> multiply (3) -> float (4) -> r1
  const Block block = block_of(settings, {load(2, 1), of(Kind::kMultiply, 3, {2}), of(Kind::kFloat, 1, {3})});
  const double found = cycles_each(node, 400, [&](int) { run(node.core(), block, {0x1000}); });
  EXPECT_DOUBLE_EQ(found, 4 + 3 + 4);
}

TEST(Core, WaitsForTheLatestOperand) {
  // Each round begins when the slower of two operations on r1 is done: max(3, 24) + 1.
  const std::vector<Instruction> block{of(Kind::kMultiply, 2, {1}), of(Kind::kDivide, 3, {1}),
                                       of(Kind::kInteger, 1, {2, 3})};
  EXPECT_DOUBLE_EQ(cycles_of_block(small_node(), block), 24 + 1);
}

TEST(Core, IsLimitedByTheUnitsThatAKindNeeds) {
  struct Case {
    const char* name;
    Instruction instruction;
    double cycles;
  };
  NodeSettings settings = small_node();
  settings.core.width = 8;
  settings.core.integer_units = 3;
  settings.core.load_ports = 2;
  settings.core.store_ports = 1;
  settings.core.float_units = 2;
  settings.core.divide_interval = 10;
  settings.core.float_divide_interval = 5;
  Instruction wide_float = of(Kind::kFloat), wide_load = load(kNowhere), wide_divide = of(Kind::kFloatDivide);
  wide_float.repeats = wide_load.repeats = wide_divide.repeats = 2;
  for (const Case& one :
       {Case{"integer", of(Kind::kInteger), 12 / 3.0}, Case{"multiply", of(Kind::kMultiply), 12},
        Case{"divide", of(Kind::kDivide), 12 * 10}, Case{"float", of(Kind::kFloat), 12 / 2.0},
        Case{"vector", of(Kind::kVector), 12 / 2.0}, Case{"wide float", wide_float, 12 * 2 / 2.0},
        Case{"float divide", of(Kind::kFloatDivide), 12 * 5}, Case{"wide float divide", wide_divide, 12 * 5 * 2},
        Case{"load", load(kNowhere), 12 / 2.0}, Case{"wide load", wide_load, 12 * 2 / 2.0}, Case{"store", store(), 12},
        Case{"move", of(Kind::kMove), 12 / 8.0}, Case{"none", of(Kind::kNone), 12 / 8.0}}) {
    SCOPED_TRACE(one.name);
    // A third of a cycle's eight ticks is rounded to a sixteenth of a tick.
    expect_near(cycles_of_block(settings, times(12, one.instruction)), one.cycles, 1);
  }
}

TEST(Core, OverlapsWorkOnDifferentUnits) {
  // 4 floats on 2 units, 4 loads on 2 ports, 4 integers and 2 multiplies: 14 operations at width 4 take longest.
  const std::vector<Instruction> block = times(4, of(Kind::kFloat)) + times(4, load(kNowhere)) +
                                         times(4, of(Kind::kInteger)) + times(2, of(Kind::kMultiply));
  EXPECT_DOUBLE_EQ(cycles_of_block(small_node(), block), 14 / 4.0);
}

TEST(Core, RunsAheadOfABusyUnitByWhatTheSchedulerHolds) {
  // Divides need 10 cycles each, integers between them a quarter: dispatch goes on while the scheduler has room.
  NodeSettings settings = small_node();
  settings.core.scheduler = 40;
  Node node(settings);
  const Block warm = block_of(settings, times(1, of(Kind::kNone)));
  run(node.core(), warm);
  const double begin = cycles(node.core(), settings);
  run(node.core(), block_of(settings, times(4, of(Kind::kDivide))));
  // 4 divides keep the divider for 40 cycles; dispatch waits until what is left is the scheduler's 40 operations.
  EXPECT_DOUBLE_EQ(cycles(node.core(), settings) - begin, 4 * 10 - 40 / 4.0);
}

TEST(Core, CountsInstructionsLoadsAndStores) {
  const NodeSettings settings = small_node();
  Node node(settings);
  Instruction both = load(1);
  both.store = true;
  const Block block = block_of(settings, std::vector{load(1), store(1), both, branch()} + times(40, of(Kind::kNone)),
                               0x400000, Ending::kConditional);
  for (int i = 0; i < 3; ++i) {
    run(node.core(), block, {0x1000, 0x1008, 0x1010});
    node.core().follow(block, block.next_address);
  }
  const CoreCounts& counts = node.core().counts;
  EXPECT_EQ(counts.instructions, 3 * 44u);
  EXPECT_EQ(counts.loads, 3 * 2u);
  EXPECT_EQ(counts.stores, 3 * 2u);
  EXPECT_EQ(counts.branches, 3u);
}

TEST(Core, DrainWaitsForTheLastResult) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, times(20, of(Kind::kFloat, 1, {1})));
  run(node.core(), block);
  node.core().drain();
  const double begin = cycles(node.core(), settings);
  run(node.core(), block);
  node.core().drain();
  EXPECT_DOUBLE_EQ(cycles(node.core(), settings) - begin, 20 * 4);
  const Stamp now = node.core().now();
  node.core().drain();
  EXPECT_EQ(node.core().now(), now) << "nothing is left to wait for";
}

TEST(Core, IdlesUntilAMomentAndChargesItToThreads) {
  const NodeSettings settings = small_node();
  Node node(settings);
  node.core().idle_until(settings.core.cycles(1000));
  EXPECT_EQ(node.core().cycles(), 1000u);
  EXPECT_DOUBLE_EQ(cycles_of(node.core(), Cause::kThreads), 1000 * 4);
  node.core().idle_until(settings.core.cycles(10));
  EXPECT_EQ(node.core().cycles(), 1000u) << "the clock never goes back";
}

TEST(Core, DoesNotFinishWorkEarlyBecauseItIdles) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, times(20, of(Kind::kFloat, 1, {1})));
  run(node.core(), block);
  node.core().drain();
  const Stamp begin = node.core().now();
  run(node.core(), block);
  node.core().idle_until(begin + settings.core.cycles(20));
  node.core().drain();
  EXPECT_EQ(node.core().now() - begin, settings.core.cycles(20 * 4));
}

}  // namespace
}  // namespace manynode::node
