// What cores share: the last-level cache with its kinds of inclusion and replacement, and memory domains.
#include <set>

#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

NodeSettings node_of(std::uint32_t cores, Inclusion inclusion = Inclusion::kNeither) {
  NodeSettings settings = small_node();
  settings.slots = cores;
  settings.last_level.inclusion = inclusion;
  settings.frames_by_hash = true;
  return settings;
}
std::vector<Place> places(std::uint32_t cores) {
  std::vector<Place> all(cores);
  for (std::uint32_t slot = 0; slot < cores; ++slot) all[slot].slot = all[slot].owner = slot;
  return all;
}

// The core goes `rounds` times along so many lines; returns how often it missed the last level.
std::uint64_t misses(Node& node, std::size_t core, const std::vector<std::uint64_t>& addresses,
                     const Instruction& access = load(1), int rounds = 1) {
  const Block block = block_of(node.settings(), {access});
  run(node.core(core), block);
  const std::uint64_t before = node.core(core).memory.counts.last_level_misses;
  for (int round = 0; round < rounds; ++round) {
    for (const std::uint64_t address : addresses) run(node.core(core), block, {address});
  }
  return node.core(core).memory.counts.last_level_misses - before;
}

TEST(Uncore, TwoCoresEvictEachOthersLines) {
  Node node(node_of(2), places(2));
  const auto most = chase_of(kLastLevelLines * 5 / 8);
  misses(node, 0, most, load(1), 3);
  const std::uint64_t alone = misses(node, 0, most, load(1), 2);
  EXPECT_LT(alone, most.size() / 10) << "it fits, but for a few sets that have more than their share";
  misses(node, 1, most, load(1), 2);
  const std::uint64_t after_other = misses(node, 0, most);
  EXPECT_GT(after_other, most.size() / 2);
}

TEST(Uncore, CoresOfDifferentLastLevelsDoNotDisturbEachOther) {
  NodeSettings settings = node_of(2);
  settings.last_levels = 2;
  std::vector<Place> both = places(2);
  both[1].last_level = 1;
  Node node(settings, both);
  const auto half = chase_of(kLastLevelLines * 3 / 8);
  misses(node, 0, half, load(1), 2);
  misses(node, 1, half, load(1), 4);
  EXPECT_LT(misses(node, 0, half), half.size() / 50);
}

TEST(Uncore, TheSameAddressOfTwoRanksIsTwoLines) {
  for (const bool frames_by_hash : {true, false}) {
    NodeSettings settings = node_of(2);
    settings.frames_by_hash = frames_by_hash;
    settings.last_level.sets = 1;  // no hash of sets tells them apart
    settings.last_level.ways = 256;
    Node node(settings, places(2));
    const auto few = chase_of(100);
    EXPECT_EQ(misses(node, 0, few), few.size());
    EXPECT_EQ(misses(node, 1, few), few.size());
  }
}

TEST(Uncore, ThreadsOfARankShareItsLines) {
  std::vector<Place> threads = places(2);
  threads[1].owner = 0;
  Node node(node_of(2), threads);
  const auto few = chase_of(100);
  EXPECT_EQ(misses(node, 0, few), few.size());
  EXPECT_EQ(misses(node, 1, few), 0u);
}

TEST(Uncore, AnInclusiveCacheRecallsWhatItLosesFromTheLevelsAbove) {
  Node node(node_of(2, Inclusion::kInclusive), places(2));
  const auto few = chase_of(kL1Lines / 2, 0x10000000);
  const Block block = block_of(node.settings(), {load(1)});
  for (const std::uint64_t address : few) run(node.core(0), block, {address});
  misses(node, 1, chase_of(4 * kLastLevelLines));  // all of core 0's lines leave the last level
  Core& core = node.core(0);
  core.memory.give_up_recalled(core.now());
  EXPECT_EQ(core.memory.counts.recalls, few.size() + 1) << "and the line of its code";
  const std::uint64_t l1d = core.memory.counts.l1d_misses;
  for (const std::uint64_t address : few) run(core, block, {address});
  EXPECT_EQ(core.memory.counts.l1d_misses - l1d, few.size());
  EXPECT_EQ(node.uncore.lost_recalls(), 0u);
}

TEST(Uncore, LinesAreRecalledAlsoWherePhysicalAddressesAreTheVirtualOnes) {
  NodeSettings settings = node_of(2, Inclusion::kInclusive);
  settings.frames_by_hash = false;
  Node node(settings, places(2));
  const auto few = chase_of(kL1Lines / 2, 0x10000000);
  const Block block = block_of(node.settings(), {load(1)});
  misses(node, 0, few);
  misses(node, 1, chase_of(4 * kLastLevelLines));
  Core& core = node.core(0);
  core.memory.give_up_recalled(core.now());
  const std::uint64_t l1d = core.memory.counts.l1d_misses;
  for (const std::uint64_t address : few) run(core, block, {address});
  EXPECT_EQ(core.memory.counts.l1d_misses - l1d, few.size());
}

TEST(Uncore, OtherKindsOfCachesLeaveTheLevelsAboveAlone) {
  for (const Inclusion inclusion : {Inclusion::kNeither, Inclusion::kVictim}) {
    Node node(node_of(2, inclusion), places(2));
    const auto few = chase_of(kL1Lines / 2, 0x10000000);
    misses(node, 0, few);
    misses(node, 1, chase_of(4 * kLastLevelLines));
    EXPECT_EQ(misses(node, 0, few), 0u);
    EXPECT_EQ(node.core(0).memory.counts.recalls, 0u);
  }
}

TEST(Uncore, RecalledLinesThatWereWrittenGoToMemory) {
  Node node(node_of(2, Inclusion::kInclusive), places(2));
  const auto few = chase_of(kL1Lines / 2, 0x10000000);
  misses(node, 0, few, store());
  misses(node, 1, chase_of(4 * kLastLevelLines));
  Core& core = node.core(0);
  const std::uint64_t before = core.memory.counts.memory_lines;
  core.memory.give_up_recalled(core.now());
  EXPECT_EQ(core.memory.counts.memory_lines - before, few.size());
}

TEST(Uncore, ALineThatIsDirtyInTheLastLevelAndAboveGoesToMemoryOnce) {
  for (const bool by_another : {false, true}) {
    SCOPED_TRACE(by_another);
    Node node(node_of(2, Inclusion::kInclusive), places(2));
    // More than the second level holds: most are written back to the last level. Then all are written again.
    const auto written = chase_of(kL2Lines + kL1Lines, 0x10000000);
    misses(node, 0, written, store(), 2);
    const auto lines = [&] {
      const MemoryCounts &own = node.core(0).memory.counts, &other = node.core(1).memory.counts;
      return own.memory_lines + other.memory_lines - own.last_level_misses - other.last_level_misses;
    };
    EXPECT_LT(lines(), 5u);
    misses(node, by_another ? 1 : 0, chase_of(6 * kLastLevelLines, 0x20000000));
    node.core(0).memory.give_up_recalled(node.core(0).now());
    expect_near(static_cast<double>(lines()), static_cast<double>(written.size()), 3);
  }
}

// While core 0 rests, core 1 takes the whole last level several times: far more lines of core 0 leave it than its
// mailbox holds, because core 0 had filled the last level before.
TEST(Uncore, ACoreWhoseMailboxRanOverKeepsNoLineThatTheLastLevelHasLost) {
  NodeSettings settings = node_of(2, Inclusion::kInclusive);
  settings.last_level.sets *= 4;
  Node node(settings, places(2));
  const Block block = block_of(node.settings(), {load(1)});
  const auto few = chase_of(kL1Lines / 2, 0x10000000);
  misses(node, 0, chase_of(3 * kLastLevelLines, 0x20000000));
  for (const std::uint64_t address : few) run(node.core(0), block, {address});
  misses(node, 1, chase_of(16 * kLastLevelLines));
  EXPECT_GT(node.uncore.lost_recalls(), 0u);
  Core& core = node.core(0);
  core.memory.give_up_recalled(core.now());
  const std::uint64_t l1d = core.memory.counts.l1d_misses, beyond = core.memory.counts.last_level_misses;
  for (const std::uint64_t address : few) run(core, block, {address});
  EXPECT_EQ(core.memory.counts.l1d_misses - l1d, few.size());
  EXPECT_GE(core.memory.counts.last_level_misses - beyond, few.size()) << "and the line of the code";
  // Once is enough: what came since stays.
  core.memory.give_up_recalled(core.now());
  const std::uint64_t again = core.memory.counts.l1d_misses;
  for (const std::uint64_t address : few) run(core, block, {address});
  EXPECT_EQ(core.memory.counts.l1d_misses, again);
}

TEST(Uncore, AMailboxThatRunsOverLosesRecallsAndCountsThem) {
  Node node(node_of(2, Inclusion::kInclusive), places(2));
  for (std::uint64_t line = 0; line < kMailboxWords + 10; ++line) node.uncore.send_recall(1, line);
  EXPECT_EQ(node.uncore.lost_recalls(), 10u);
  std::uint64_t found = 0, last = 0;
  while (const std::uint64_t word = node.uncore.next_recall(1)) {
    ++found;
    last = word - 1;
  }
  EXPECT_EQ(found, kMailboxWords);
  EXPECT_EQ(last, kMailboxWords + 9u) << "the latest ones are there";
  EXPECT_FALSE(node.uncore.has_recalls(1));
}

TEST(Uncore, AVictimCacheHoldsWhatLeftTheSecondLevelBesideIt) {
  // Both together hold a cycle that neither holds alone.
  NodeSettings settings = node_of(1, Inclusion::kVictim);
  settings.l2 = {256, 4, 14, Prefetch::kNone};  // 1,024 lines, as many as the last level
  const auto both = chase_of(kLastLevelLines * 3 / 2);
  Node victim(settings);
  misses(victim, 0, both, load(1), 3);
  EXPECT_LT(misses(victim, 0, both), both.size() / 10);
  settings.last_level.inclusion = Inclusion::kNeither;
  Node neither(settings);
  misses(neither, 0, both, load(1), 3);
  EXPECT_GT(misses(neither, 0, both), both.size() / 2);
}

TEST(Uncore, AVictimCacheLosesWhatMovesBackToTheSecondLevel) {
  const NodeSettings settings = node_of(1, Inclusion::kVictim);
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  EXPECT_FALSE(uncore.read(0, 77, 0).hit);
  EXPECT_FALSE(uncore.read(0, 77, 0).hit) << "lines come from the second level only";
  uncore.write_back(0, 77, 0, true);
  const Uncore::Answer answer = uncore.read(0, 77, 0);
  EXPECT_TRUE(answer.hit);
  EXPECT_TRUE(answer.was_dirty);
  EXPECT_FALSE(uncore.read(0, 77, 0).hit);
}

// The share of `lines` lines, read again and again with `gap` cycles from one to the next, that are there.
double kept(const NodeSettings& settings, std::uint64_t lines, double gap) {
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  std::uint64_t hits = 0;
  constexpr int kRounds = 8;
  double at = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (std::uint64_t line = 0; line < lines; ++line, at += gap) {
      const bool hit = uncore.read(0, line, 0, settings.core.cycles(at)).hit;
      if (round == kRounds - 1) hits += hit;
    }
  }
  return static_cast<double>(hits) / static_cast<double>(lines);
}

// A range stays if there is room for it and for all that others bring between two reads of a line: lines x (1 + others
// x gap) = size. Fast loads thus keep more than slow ones.
TEST(Uncore, OfWhatOthersUseARangeStaysThatHasRoomBesideTheirLines) {
  NodeSettings settings = node_of(1);
  settings.last_level.sets = 1024;
  settings.last_level.ways = 16;
  constexpr double kSize = 1024 * 16;
  for (const double gap : {2.0, 8.0, 64.0}) {
    EXPECT_GT(kept(settings, static_cast<std::uint64_t>(0.6 * kSize), gap), 0.95) << "others are not there";
  }
  settings.last_level.others = 0.125;
  for (const double gap : {2.0, 8.0, 64.0}) {
    const double fits = kSize / (1 + 0.125 * gap);
    EXPECT_GT(kept(settings, static_cast<std::uint64_t>(0.7 * fits), gap), 0.9) << gap;
    EXPECT_LT(kept(settings, static_cast<std::uint64_t>(1.4 * fits), gap), 0.25) << gap;
  }
}

TEST(Uncore, WhatOthersReplaceIsWrittenAndRecalled) {
  NodeSettings settings = node_of(2, Inclusion::kInclusive);
  settings.last_level.sets = 1;
  settings.last_level.ways = 4;
  settings.last_level.others = 0.01;
  SharedMemory memory("", Uncore::bytes(settings));
  Uncore uncore(settings, memory.data());
  const Stamp cycle = settings.core.cycles(1);
  uncore.read(0, 5, 1, 0);
  uncore.write_back(0, 6, 0, true, 0);
  EXPECT_TRUE(uncore.read(0, 5, 1, 150 * cycle).hit) << "one or two lines of others have come";
  const Uncore::Answer answer = uncore.read(0, 7, 0, 1000 * cycle);
  EXPECT_FALSE(answer.hit);
  EXPECT_EQ(answer.written, 1u);
  EXPECT_EQ(answer.victim, 0u) << "a line of others made room";
  EXPECT_EQ(uncore.next_recall(1), 5u + 1);
  EXPECT_EQ(uncore.next_recall(0), (6u | kDirty) + 1);
  EXPECT_EQ(uncore.next_recall(0), 0u);
  EXPECT_FALSE(uncore.read(0, 5, 1, 1000 * cycle).hit);
}

// Lines to and from memory for half a last level that is first accessed like this, then read and finally replaced.
std::uint64_t lines_moved(Prefetch prefetch, const Instruction& access) {
  NodeSettings settings = node_of(1, Inclusion::kVictim);
  settings.l2.prefetch = prefetch;
  Node node(settings);
  const auto half = chase_of(kLastLevelLines / 2);
  std::vector<std::uint64_t> in_order(half.size());
  for (std::uint64_t i = 0; i < in_order.size(); ++i) in_order[i] = i * kLine;
  misses(node, 0, half, access);
  misses(node, 0, half);      // they move back from the last level
  misses(node, 0, in_order);  // and by prefetches
  misses(node, 0, chase_of(8 * kLastLevelLines, 0x10000000));
  return node.core().memory.counts.memory_lines;
}

TEST(Uncore, LinesWrittenOnceGoToMemoryOnceAlsoThroughAVictimCache) {
  for (const Prefetch prefetch : {Prefetch::kNone, Prefetch::kStream}) {
    const auto written = static_cast<double>(lines_moved(prefetch, store()) - lines_moved(prefetch, load(1)));
    expect_near(written, static_cast<double>(kLastLevelLines) / 2, 2);
  }
}

TEST(Uncore, RandomReplacementKeepsPartOfACycleThatDoesNotFit) {
  NodeSettings settings = node_of(1);
  const auto cycle = chase_of(kLastLevelLines * 3 / 2);
  Node lru(settings);
  misses(lru, 0, cycle, load(1), 3);
  EXPECT_GT(misses(lru, 0, cycle), cycle.size() * 85 / 100);
  settings.last_level.replacement = Replacement::kRandom;
  Node random(settings);
  misses(random, 0, cycle, load(1), 6);
  // A line survives the misses of a round with (1 - 1 / lines) ^ misses: m = 1 - exp(-1.5 m), m = 0.58.
  expect_near(static_cast<double>(misses(random, 0, cycle, load(1), 3)) / 3, 0.58 * static_cast<double>(cycle.size()),
              10);
}

TEST(Uncore, LinesAreSpreadOverSetsWhateverTheirStride) {
  // A stride of the number of sets would meet one set without the hash.
  NodeSettings settings = node_of(1);
  settings.frames_by_hash = false;
  Node node(settings);
  const auto apart = chase_of(kLastLevelLines / 4, 0, 64 * kLine);
  misses(node, 0, apart);
  EXPECT_LT(misses(node, 0, apart), apart.size() / 20);
}

TEST(Uncore, MemoryOfAnotherDomainHasItsOwnLatency) {
  NodeSettings settings = node_of(2);
  settings.domains = 2;
  settings.memory.remote_cycles = 330;
  FirstTouch pages;
  std::vector<Place> threads = places(2);
  threads[1].owner = 0;
  threads[1].domain = 1;
  for (Place& place : threads) place.pages = &pages;
  Node node(settings, threads);
  const Block block = block_of(settings, {load(1, 1)});
  const auto cycles_of_chase = [&](std::size_t core, std::uint64_t first) {
    const double begin = cycles(node.core(core), settings);
    for (std::uint64_t i = 0; i < 100; ++i) run(node.core(core), block, {first + 2 * i * kPage + core * kLine});
    node.core(core).drain();
    return (cycles(node.core(core), settings) - begin) / 100;
  };
  for (const std::size_t core : {0u, 1u}) {
    run(node.core(core), block);
    node.core(core).drain();
  }
  EXPECT_DOUBLE_EQ(cycles_of_chase(0, 0x10000000), 200) << "it touches the pages first";
  EXPECT_DOUBLE_EQ(cycles_of_chase(1, 0x10000000), 330) << "pages of the other";
  EXPECT_DOUBLE_EQ(cycles_of_chase(1, 0x10000000 + kPage), 200) << "its own pages";
  EXPECT_DOUBLE_EQ(cycles_of_chase(0, 0x10000000 + kPage), 330);
}

TEST(Uncore, InjectedMessagesReplaceWhatTheCoreHadOfThem) {
  const NodeSettings settings = node_of(1);
  Node node(settings);
  std::vector<std::uint64_t> message(10);
  for (std::uint64_t i = 0; i < 10; ++i) message[i] = 0x10000000 + i * kLine;
  misses(node, 0, message);
  EXPECT_EQ(misses(node, 0, message), 0u);
  const std::uint64_t before = node.core().memory.counts.memory_lines;
  node.core().memory.inject(0x10000000 + 8, 9 * kLine, true, node.core().now());  // from the middle of a line
  EXPECT_EQ(node.core().memory.counts.memory_lines - before, 10u);
  EXPECT_EQ(misses(node, 0, message), 10u) << "they are in memory";
}

TEST(Uncore, TheLinesOfAMessageFollowEachOther) {
  NodeSettings settings = node_of(1);
  settings.memory.line_cycles = 10;
  settings.memory.channels = 2;
  Node node(settings);
  const Stamp now = settings.core.cycles(10'000);
  const auto wait_after = [&](double cycles) { return node.uncore.transfer(0, now + settings.core.cycles(cycles)); };
  node.core().memory.inject(0x10000000, 1000 * kLine, true, now);  // 20,000 cycles of one channel
  for (const double during : {100, 5'000, 19'500}) {
    EXPECT_GT(wait_after(during), settings.core.cycles(5)) << during;
    EXPECT_LT(wait_after(during), settings.core.cycles(100)) << during;
  }
  EXPECT_EQ(wait_after(21'000), 0u);
  EXPECT_EQ(node.core().memory.counts.memory_lines, 1000u);
}

TEST(Uncore, AMessageThatIsLongerThanTheRingOfBucketsLeavesThePresentAsItIs) {
  NodeSettings settings = node_of(1);
  settings.memory.line_cycles = 10;
  Node node(settings);
  const Stamp now = settings.core.cycles(10'000);
  node.core().memory.inject(0x10000000, 300'000 * kLine, true, now);
  EXPECT_EQ(node.core().memory.counts.memory_lines, 300'000u);
  for (const double after : {0, 1'000, 100'000}) {
    EXPECT_GT(node.uncore.transfer(0, now + settings.core.cycles(after)), settings.core.cycles(40)) << after;
  }
}

TEST(Uncore, MessagesInjectedIntoTheLastLevelAreFoundThere) {
  NodeSettings settings = node_of(1);
  settings.memory.injection_to_last_level = true;
  Node node(settings);
  std::vector<std::uint64_t> message(10);
  for (std::uint64_t i = 0; i < 10; ++i) message[i] = 0x10000000 + i * kLine;
  node.core().memory.inject(0x10000000, 10 * kLine, true, node.core().now());
  EXPECT_EQ(node.core().memory.counts.memory_lines, 0u);
  EXPECT_EQ(misses(node, 0, message), 0u);
}

}  // namespace
}  // namespace manynode::node
