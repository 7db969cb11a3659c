// What limits how far a core runs ahead: reorder buffer, fill buffers, store queue, chains through memory, and
// mispredicted branches.
#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

constexpr double kMemory = 200;  // cycles of small_node()
constexpr std::uint64_t kFar = 0x10000000;

// Cycles of each run of a block with one access to a line that no cache has.
double cycles_per_miss(const NodeSettings& settings, const std::vector<Instruction>& instructions, int rounds = 400) {
  Node node(settings);
  const Block block = block_of(settings, instructions);
  std::uint64_t next = kFar;
  return cycles_each(node, rounds, [&](int) { run(node.core(), block, {next += kLine}); });
}

TEST(CoreLimits, FillBuffersLimitTheMissesInFlight) {
  for (const std::uint32_t buffers : {1u, 4u, 10u}) {
    NodeSettings settings = small_node();
    settings.core.reorder_buffer = 64;
    settings.fill_buffers = buffers;
    settings.l2_fill_buffers = 64;
    expect_near(cycles_per_miss(settings, times(1, load(1))), kMemory / buffers, 1);
  }
}

TEST(CoreLimits, FillBuffersOfTheSecondLevelLimitItsMisses) {
  NodeSettings settings = small_node();
  settings.core.reorder_buffer = 64;
  settings.fill_buffers = 10;
  settings.l2_fill_buffers = 4;
  expect_near(cycles_per_miss(settings, times(1, load(1))), kMemory / 4, 1);
}

TEST(CoreLimits, TheReorderBufferLimitsWhichMissesOverlap) {
  // A miss every 64 operations; as many overlap as the reorder buffer has spans of 64 operations.
  const std::vector<Instruction> block = times(1, load(1)) + times(63, of(Kind::kInteger));
  for (const std::uint32_t overlapping : {2u, 4u, 8u}) {
    NodeSettings settings = small_node();
    settings.fill_buffers = 16;
    settings.core.reorder_buffer = 64 * overlapping;
    expect_near(cycles_per_miss(settings, block), kMemory / overlapping, 5);
  }
}

TEST(CoreLimits, MissesFurtherApartThanTheReorderBufferDoNotOverlap) {
  NodeSettings settings = small_node();
  settings.core.reorder_buffer = 64;
  // 64 of 256 operations are dispatched while the miss waits, the other 192 afterwards.
  const std::vector<Instruction> block = times(1, load(1)) + times(255, of(Kind::kNone));
  expect_near(cycles_per_miss(settings, block), kMemory + (256 - 64) / 4.0, 3);
}

TEST(CoreLimits, TheReorderBufferDoesNotLimitAChainOfLatencies) {
  NodeSettings settings = small_node();
  settings.core.reorder_buffer = 32;
  Node node(settings);
  const Block block = block_of(settings, times(16, of(Kind::kFloat, 1, {1})));
  EXPECT_DOUBLE_EQ(cycles_each(node, 100, [&](int) { run(node.core(), block); }), 16 * 4);
}

TEST(CoreLimits, TheStoreQueueLimitsStoresThatWaitForTheirLines) {
  for (const std::uint32_t queue : {1u, 4u, 8u}) {
    NodeSettings settings = small_node();
    settings.core.store_queue = queue;
    expect_near(cycles_per_miss(settings, times(1, store())), kMemory / queue, 2);
  }
}

// With a queue of one, a store is dispatched when the one before has left: its line comes a whole latency after its
// data.
TEST(CoreLimits, AStoreAsksForItsLineWhenItHasRetired) {
  NodeSettings settings = small_node();
  settings.core.store_queue = 1;
  settings.core.float_latency = 100;
  expect_near(cycles_per_miss(settings, {of(Kind::kFloat, 1), store(1)}), 100 + kMemory, 2);
}

TEST(CoreLimits, StoresThatHitLeaveOnePerCycleAndPort) {
  NodeSettings settings = small_node();
  settings.core.store_queue = 4;
  settings.core.store_ports = 2;
  Node node(settings);
  const Block block = block_of(settings, times(8, store()));
  const auto each = [&](int) { run(node.core(), block, {0, 8, 16, 24, 32, 40, 48, 56}); };
  EXPECT_DOUBLE_EQ(cycles_each(node, 400, each), 8 / 2.0);
}

TEST(CoreLimits, PortsThatDoNotDivideTheWidthReachTheirRate) {
  for (const std::uint32_t ports : {2u, 3u}) {
    SCOPED_TRACE(ports);
    NodeSettings settings = small_node();
    settings.core.width = settings.core.integer_units = 5;
    settings.core.store_queue = 4;
    settings.core.store_ports = settings.core.load_ports = ports;
    for (const Instruction& access : {store(), load(1)}) {
      SCOPED_TRACE(access.store);
      Node node(settings);
      const Block one = block_of(settings, times(1, access));
      // A piece occupies ports for whole sixteenths of a tick: 27 instead of 26.7 where it has one access and 3 ports.
      const auto each_one = [&](int) { run(node.core(), one, {0}); };
      expect_near(cycles_each(node, 3000, each_one), 1.0 / ports, ports == 2 ? 0.2 : 1.3);
      const Block several = block_of(settings, times(7, access));
      const auto each = [&](int) { run(node.core(), several, {0, 0, 0, 0, 0, 0, 0}); };
      expect_near(cycles_each(node, 3000, each), 7.0 / ports, 0.2);
    }
  }
}

// Instructions of small_node's blocks are two bytes long.
TEST(CoreLimits, EachBlockOfCodeTakesACycleToFetch) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 4;
  const auto turn = [&](std::uint64_t address, std::size_t instructions) {
    Node node(settings);
    const Block block = block_of(settings, times(instructions, of(Kind::kInteger, 1)), address);
    return cycles_each(node, 400, [&](int) { run(node.core(), block); });
  };
  EXPECT_DOUBLE_EQ(turn(0x40003c, 4), 1) << "without a limit";
  settings.core.fetch_bits = 6;
  EXPECT_DOUBLE_EQ(turn(0x400000, 4), 1);
  EXPECT_DOUBLE_EQ(turn(0x400038, 4), 1) << "up to the end of a block";
  EXPECT_DOUBLE_EQ(turn(0x40003c, 4), 2) << "across it";
  EXPECT_DOUBLE_EQ(turn(0x40003c, 2), 1);
  EXPECT_DOUBLE_EQ(turn(0x400000, 2), 1) << "a branch is taken each cycle";
  EXPECT_DOUBLE_EQ(turn(0x40003c, 32), 8) << "three blocks in the time of their dispatch";
}

TEST(CoreLimits, CodeThatGoesOnInItsBlockIsNotFetchedAgain) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 4;
  settings.core.fetch_bits = 6;
  Node node(settings);
  const auto two = times(2, of(Kind::kInteger, 1));
  const Block first = block_of(settings, two, 0x400000), next = block_of(settings, two, 0x400004);
  const Block elsewhere = block_of(settings, two, 0x400104);
  EXPECT_DOUBLE_EQ(cycles_each(node, 400, [&](int) { run(node.core(), first), run(node.core(), next); }), 1);
  EXPECT_DOUBLE_EQ(cycles_each(node, 400, [&](int) { run(node.core(), first), run(node.core(), elsewhere); }), 2);
}

TEST(CoreLimits, FetchRunsAheadOfDispatchThatWaits) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 4;
  settings.core.fetch_bits = 6;
  Node node(settings);
  // 16 divisions of 10 cycles each keep the core busy for longer than fetch needs for the loop behind them.
  const Block slow = block_of(settings, times(16, of(Kind::kDivide, 1)), 0x400080);
  const Block across = block_of(settings, times(4, of(Kind::kInteger, 1)), 0x40003c);
  const auto turn = [&](int) {
    run(node.core(), slow);
    for (int i = 0; i < 4; ++i) run(node.core(), across);
  };
  const double divisions = 16.0 * settings.core.divide_interval;
  expect_near(cycles_each(node, 400, turn), divisions, 1);
}

TEST(CoreLimits, VectorsTakeSomeOfThePorts) {
  NodeSettings settings = small_node();
  settings.core.store_queue = 64;
  settings.core.load_ports = 4;
  settings.core.store_ports = 3;
  settings.core.vector_load_ports = 2;
  settings.core.vector_store_ports = 1;
  const auto rate = [&](const Instruction& access) {
    Node node(settings);
    const Block block = block_of(settings, times(8, access));
    return 8 / cycles_each(node, 400, [&](int) { run(node.core(), block, {0, 8, 16, 24, 32, 40, 48, 56}); });
  };
  Instruction vector_load = load(20), vector_store = store(20);
  vector_load.vector = vector_store.vector = true;
  expect_near(rate(load(1)), 4, 1);
  expect_near(rate(vector_load), 2, 1);
  expect_near(rate(store(1)), 3, 1);
  expect_near(rate(vector_store), 1, 1);
}

TEST(CoreLimits, AdditionsHaveUnitsOfTheirOwnUpToTheIssueOfAll) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 8;
  settings.core.float_units = 2;
  settings.core.float_add_units = 1;
  settings.core.float_issue = 3;
  const auto rate = [&](int multiplications, int additions) {
    Node node(settings);
    const Block block = block_of(settings, times(static_cast<std::size_t>(multiplications), of(Kind::kFloat, 1)) +
                                               times(static_cast<std::size_t>(additions), of(Kind::kFloatAdd, 2)));
    return (multiplications + additions) / cycles_each(node, 400, [&](int) { run(node.core(), block); });
  };
  expect_near(rate(8, 0), 2, 1);
  expect_near(rate(0, 8), 1, 1);
  expect_near(rate(8, 4), 3, 1);
  settings.core.float_issue = 2.5;
  expect_near(rate(8, 4), 2.5, 1);
}

// Moves have no unit, but are operations: what is sustained counts all.
TEST(CoreLimits, TheSustainedWidthIsThatOfAllOperationsTogether) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 6;
  const auto rate = [&](double sustained) {
    settings.core.sustained_width = sustained;
    Node node(settings);
    const Block block = block_of(
        settings, times(4, of(Kind::kInteger, 1)) + times(2, of(Kind::kFloat, 2)) + times(6, of(Kind::kMove, 3)));
    return 12 / cycles_each(node, 400, [&](int) { run(node.core(), block); });
  };
  expect_near(rate(0), 6, 1);
  expect_near(rate(6), 6, 1);
  expect_near(rate(4.8), 4.8, 1);
}

TEST(CoreLimits, ALineThatComesToTheFirstLevelKeepsLoadsFromStarting) {
  NodeSettings settings = small_node();
  settings.core.load_ports = settings.core.vector_load_ports = 2;
  settings.fill_buffers = settings.l2_fill_buffers = 64;
  const auto cycles_a_line = [&](double fill, std::uint64_t lines) {
    settings.l1d.line_fill = fill;
    Node node(settings);
    const Block block = block_of(settings, times(6, load(1)));
    return cycles_each(node, 4'000, [&](int i) {
      const std::uint64_t line = 0x10000000 + static_cast<std::uint64_t>(i) % lines * kLine;
      run(node.core(), block, {line, line, line, line, line, line});
    });
  };
  expect_near(cycles_a_line(1.5, kL1Lines / 2), 3, 2);
  expect_near(cycles_a_line(0, kL2Lines / 2), 3, 2);
  expect_near(cycles_a_line(1.5, kL2Lines / 2), 3 + 1.5, 2);
}

// Two loads per turn of three in the reorder buffer of 64: the load queue is the shorter one.
TEST(CoreLimits, TheLoadQueueLimitsHowFarACoreRunsAhead) {
  NodeSettings settings = small_node();
  settings.core.reorder_buffer = 64;
  settings.fill_buffers = settings.l2_fill_buffers = 64;
  for (const std::uint32_t loads : {4u, 8u, 16u}) {
    settings.core.load_queue = loads;
    expect_near(cycles_per_miss(settings, times(1, load(1))), kMemory / loads, 8);
  }
}

TEST(CoreLimits, EveryCycleOfStoresOnPortsThatDoNotDivideTheWidthHasItsCause) {
  NodeSettings settings = small_node();
  settings.core.width = settings.core.integer_units = 5;
  settings.core.store_queue = 4;
  settings.core.store_ports = 2;
  Node node(settings);
  const Block one = block_of(settings, times(1, store())), four = block_of(settings, times(4, store()));
  std::uint64_t next = kFar;
  for (int i = 0; i < 300; ++i) {
    // The second store leaves half a cycle after the first, which misses, and carries the cause of the miss along.
    run(node.core(), one, {next += kLine});
    run(node.core(), one, {0x1000});
    run(node.core(), four, {0x1000, 0x1008, 0x1010, 0x1018});  // waits for both
  }
  node.core().drain();
  EXPECT_EQ(node.core().now() % kTick, 0u);
  Stamp sum = 0;
  for (const Stamp part : node.core().counts.stack) {
    EXPECT_EQ(part % kTick, 0u);
    sum += part;
  }
  EXPECT_EQ(sum, node.core().now());
  EXPECT_GT(cycles_of(node.core(), Cause::kMemory), 0.9 * static_cast<double>(sum / kTick));
  for (const Cause never : {Cause::kL2, Cause::kLastLevel, Cause::kTlb, Cause::kThreads}) {
    EXPECT_EQ(cycles_of(node.core(), never), 0) << kCauseNames[static_cast<int>(never)];
  }
}

// An array that stays in the first level.
std::uint64_t address_of(int element) { return 0x1000 + 8 * static_cast<std::uint64_t>(element % 256); }

// a[i + 1] = f(a[i])
TEST(CoreLimits, AChainThroughMemoryTakesForwardingAndTheFunctionPerElement) {
  struct Case {
    Kind f;
    double latency;
    std::size_t others;  // operations that do not belong to the chain
  };
  for (const Case& one : {Case{Kind::kFloat, 4, 1}, Case{Kind::kDivide, 24, 1}, Case{Kind::kFloat, 4, 13},
                          Case{Kind::kInteger, 1, 1}, Case{Kind::kInteger, 1, 13}}) {
    SCOPED_TRACE(one.latency);
    SCOPED_TRACE(one.others);
    const NodeSettings settings = small_node();
    Node node(settings);
    const Block block =
        block_of(settings, std::vector{load(1), of(one.f, 2, {1}), store(2)} + times(one.others, of(Kind::kInteger)));
    const auto element = [&](int i) { run(node.core(), block, {address_of(i), address_of(i + 1)}); };
    // A load takes the first level's latency from a store that is not yet done.
    expect_near(cycles_each(node, 512, element), 4 + one.latency, 1);
  }
}

TEST(CoreLimits, ForwardingAndLoadsIntoVectorRegistersHaveTheirOwnLatencies) {
  NodeSettings settings = small_node();
  settings.core.forward_latency = 1;
  settings.core.vector_load_latency = 6;
  settings.core.vector_forward_latency = 9;
  for (const bool vector : {false, true}) {
    SCOPED_TRACE(vector);
    Instruction in = load(1), out = store(2);
    in.vector = out.vector = vector;
    Node node(settings);
    const Block chain = block_of(settings, {in, of(Kind::kInteger, 2, {1}), out});
    const auto element = [&](int i) { run(node.core(), chain, {address_of(i), address_of(i + 1)}); };
    expect_near(cycles_each(node, 512, element), (vector ? 9 : 1) + 1, 1);
    // Loads of a word that nobody stores, each with an address from the one before.
    Instruction next = load(1, 1);
    next.vector = vector;
    Node other(settings);
    const Block chase = block_of(settings, {next, of(Kind::kTransfer, 1, {1})});
    expect_near(cycles_each(other, 512, [&](int) { run(other.core(), chase, {0x20000000}); }),
                (vector ? 6 : 4) + settings.core.transfer_latency, 1);
  }
}

TEST(CoreLimits, LoadsOfOtherWordsDoNotWaitForAStore) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, {load(1), of(Kind::kDivide, 2, {1}), store(2), of(Kind::kInteger)});
  const auto element = [&](int i) { run(node.core(), block, {address_of(i + 1), address_of(i)}); };
  expect_near(cycles_each(node, 512, element), settings.core.divide_interval, 1);  // the divider's rate
}

TEST(CoreLimits, AMispredictedBranchCostsItsResolutionAndTheFrontEnd) {
  const NodeSettings settings = small_node();
  Node node(settings);
  for (const std::size_t chain : {1u, 5u, 30u}) {
    const Block block = block_of(settings, times(chain, of(Kind::kInteger, 1, {1})) + std::vector{branch(1)}, 0x400000,
                                 Ending::kIndirectJump);
    const double branches = cycles_of(node.core(), Cause::kBranch);
    const double found = cycles_each(node, 100, [&, target = std::uint64_t{0}](int) mutable {
      run(node.core(), block);
      node.core().follow(block, target += 64);  // never there before: always wrong
    });
    EXPECT_DOUBLE_EQ(found, chain * 1 + 1 + settings.core.frontend_depth);
    // All but the dispatch of the block is the branch's.
    const double ticks = 4.0 * found - static_cast<double>(chain) - 1;
    EXPECT_DOUBLE_EQ(cycles_of(node.core(), Cause::kBranch) - branches, 200 * ticks);
  }
  EXPECT_EQ(node.core().counts.branch_misses, node.core().counts.branches);
}

TEST(CoreLimits, ABranchThatWaitsForMemoryIsChargedToMemoryUntilTheDataIsThere) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, {load(1), branch(1)}, 0x400000, Ending::kIndirectJump);
  std::uint64_t next = kFar;
  const double found = cycles_each(node, 100, [&](int) {
    run(node.core(), block, {next += kLine});
    node.core().follow(block, next);
  });
  EXPECT_DOUBLE_EQ(found, kMemory + 1 + settings.core.frontend_depth);
  // The block's two operations are dispatched during the first half cycle of the miss.
  EXPECT_DOUBLE_EQ(cycles_of(node.core(), Cause::kMemory), 200 * (4 * kMemory - 2));
  EXPECT_DOUBLE_EQ(cycles_of(node.core(), Cause::kBranch), 200 * 4 * (1 + settings.core.frontend_depth));
}

TEST(CoreLimits, ARightlyPredictedBranchCostsNothing) {
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block =
      block_of(settings, times(8, of(Kind::kInteger, 1)) + times(4, branch(1)), 0x400000, Ending::kJump);
  const double found = cycles_each(node, 100, [&](int) {
    run(node.core(), block);
    node.core().follow(block, 0x400100);
  });
  EXPECT_DOUBLE_EQ(found, 12 / 4.0);
}

TEST(CoreLimits, WaitingForMissesIsChargedToTheirLevel) {
  // A chase through memory: all but the dispatch is memory's. (Its block has one operation.)
  const NodeSettings settings = small_node();
  Node node(settings);
  const Block block = block_of(settings, {load(1, 1)});
  std::uint64_t next = kFar;
  for (int i = 0; i < 300; ++i) run(node.core(), block, {next += kLine});
  node.core().drain();
  const double all = static_cast<double>(node.core().now() / kTick);
  EXPECT_NEAR(cycles_of(node.core(), Cause::kMemory) / all, 1 - 1 / (4 * kMemory), 0.01);
  EXPECT_DOUBLE_EQ(cycles_of(node.core(), Cause::kBase), 300);
}

}  // namespace
}  // namespace manynode::node
