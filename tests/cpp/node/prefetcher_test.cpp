// Prefetchers: what they learn, and how much of a stream's latency they hide.
#include "prefetcher.hpp"

#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

constexpr std::uint64_t kLinesPerPage = kPage / kLine;

// The lines that are fetched after each of these demands of one instruction.
std::vector<std::vector<std::uint64_t>> fetched(Prefetch kind, const std::vector<std::uint64_t>& demands) {
  Prefetcher prefetcher(kind, kLinesPerPage);
  std::vector<std::vector<std::uint64_t>> all;
  for (const std::uint64_t line : demands) {
    Prefetcher::Lines lines;
    const int count = prefetcher.learn(0x400000, line, lines);
    all.emplace_back(lines.begin(), lines.begin() + count);
  }
  return all;
}
using Fetched = std::vector<std::vector<std::uint64_t>>;

TEST(Prefetchers, NextLineFetchesTheNextLineOfThePage) {
  EXPECT_EQ(fetched(Prefetch::kNextLine, {100, 500, 126, 127}), (Fetched{{101}, {501}, {127}, {}}));
}

TEST(Prefetchers, StrideFollowsTwoEqualSteps) {
  EXPECT_EQ(fetched(Prefetch::kStride, {64, 67, 70, 73}), (Fetched{{}, {}, {73, 76}, {76, 79}}));
  EXPECT_EQ(fetched(Prefetch::kStride, {90, 88, 86}), (Fetched{{}, {}, {84, 82}})) << "downwards";
  EXPECT_EQ(fetched(Prefetch::kStride, {64, 67, 71, 74}), (Fetched{{}, {}, {}, {}})) << "no two equal steps in a row";
}

TEST(Prefetchers, StrideStaysInThePage) {
  EXPECT_EQ(fetched(Prefetch::kStride, {116, 120, 124}), (Fetched{{}, {}, {}}));
  EXPECT_EQ(fetched(Prefetch::kStride, {112, 116, 120}), (Fetched{{}, {}, {124}}));
}

TEST(Prefetchers, StrideTellsInstructionsApart) {
  Prefetcher prefetcher(Prefetch::kStride, kLinesPerPage);
  Prefetcher::Lines lines;
  for (std::uint64_t i = 0; i < 4; ++i) {
    // Two streams in turn, with steps of 1 and 3 lines.
    EXPECT_EQ(prefetcher.learn(0x400000, 64 + i, lines), i < 2 ? 0 : 2);
    EXPECT_EQ(prefetcher.learn(0x400010, 640 + 3 * i, lines), i < 2 ? 0 : 2);
  }
  EXPECT_EQ(lines[0], 640u + 3 * 4);
}

TEST(Prefetchers, StrideTellsLoadsOfOverlappingBlocksApart) {
  NodeSettings settings = small_node();
  settings.l1d.prefetch = Prefetch::kStride;
  Node node(settings);
  // The loads are 4 bytes apart, and so are the blocks: the fifth instruction of one, the first of the other.
  const Block one = block_of(settings, times(4, of(Kind::kInteger)) + times(1, load(1)), 0x400000);
  const Block other = block_of(settings, {load(2)}, 0x400004);
  for (std::uint64_t i = 0; i < 20; ++i) {
    run(node.core(), one, {0x10000000 + i * kLine});
    run(node.core(), other, {0x20000000 + 3 * i * kLine});
    node.core().drain();
  }
  EXPECT_GT(node.core().memory.counts.prefetches, 20u);
}

TEST(Prefetchers, StreamRunsAheadAfterTwoStepsInOneDirection) {
  EXPECT_EQ(fetched(Prefetch::kStream, {64, 65, 66, 67}), (Fetched{{}, {}, {67, 68, 69, 70}, {71, 72, 73, 74}}));
  EXPECT_EQ(fetched(Prefetch::kStream, {100, 99, 98}), (Fetched{{}, {}, {97, 96, 95, 94}})) << "downwards";
  EXPECT_EQ(fetched(Prefetch::kStream, {64, 66, 65, 67, 66}), (Fetched{{}, {}, {}, {}, {}})) << "no direction";
}

TEST(Prefetchers, StreamRunsNoMoreThan16LinesAheadAndNotOutOfThePage) {
  std::vector<std::uint64_t> demands(kLinesPerPage);
  std::iota(demands.begin(), demands.end(), 2 * kLinesPerPage);
  const Fetched all = fetched(Prefetch::kStream, demands);
  std::vector<std::uint64_t> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::uint64_t line : all[i]) {
      EXPECT_LE(line, demands[i] + 16);
      lines.push_back(line);
    }
  }
  // Each line of the page but the three from which the stream was learned, once and in order.
  EXPECT_EQ(lines, std::vector<std::uint64_t>(demands.begin() + 3, demands.end()));
}

// Cycles of each step along consecutive lines that no cache has; each step depends on the one before, and computes
// for so many cycles.
double cycles_of_step(const NodeSettings& settings, int multiplies, std::uint64_t step = kLine) {
  Node node(settings);
  const Block block = block_of(
      settings, std::vector{load(1, 1)} + times(static_cast<std::size_t>(multiplies), of(Kind::kMultiply, 1, {1})));
  std::uint64_t next = 0x10000000;
  return cycles_each(node, 16 * kLinesPerPage, [&](int) { run(node.core(), block, {next += step}); });
}

TEST(Prefetchers, WithoutOneAStreamWaitsForMemoryAtEachLine) {
  EXPECT_DOUBLE_EQ(cycles_of_step(small_node(), 70), 200 + 70 * 3);
}

TEST(Prefetchers, NextLineHidesMemoryBehindWorkThatTakesAsLong) {
  NodeSettings settings = small_node();
  settings.l1d.prefetch = Prefetch::kNextLine;
  // Of the 64 lines of a page, only the first is waited for.
  expect_near(cycles_of_step(settings, 70), 4 + 70 * 3 + (200 - 4) / 64.0, 1);
}

TEST(Prefetchers, NextLineHidesHalfOfMemoryWithoutWork) {
  NodeSettings settings = small_node();
  settings.l1d.prefetch = Prefetch::kNextLine;
  // Line i + 1 is asked for when the address of line i is known: two lines are always under way.
  expect_near(cycles_of_step(settings, 0), 200 / 2.0, 3);
}

TEST(Prefetchers, StrideHidesMemoryBehindWork) {
  NodeSettings settings = small_node();
  settings.l1d.prefetch = Prefetch::kStride;
  // Steps of two lines: 32 in a page, the first of which is waited for.
  expect_near(cycles_of_step(settings, 70, 2 * kLine), 4 + 70 * 3 + (200 - 4) / 32.0, 1);
}

TEST(Prefetchers, StreamBringsAStreamToTheLatencyOfTheSecondLevel) {
  NodeSettings settings = small_node();
  settings.l2.prefetch = Prefetch::kStream;
  // Of the 64 lines of a page three come from memory; the third asks for lines 4 to 7, line 4 for the next four, and
  // so on. Line 8, asked for at line 4, arrives 200 cycles after line 4 was asked for: 4 x 14 are hidden.
  const double page = 3 * 200 + 4 * 14 + (200 - 4 * 14) + 57 * 14;
  expect_near(cycles_of_step(settings, 0), page / 64, 3);
}

TEST(Prefetchers, StreamNamesLinesAgainForWhichNoBufferWasFree) {
  for (const std::uint64_t step : {std::uint64_t{1}, ~std::uint64_t{0}}) {
    Prefetcher prefetcher(Prefetch::kStream, kLinesPerPage);
    Prefetcher::Lines lines;
    const std::uint64_t first = 64 + 32;
    for (std::uint64_t i = 0; i < 3; ++i) prefetcher.learn(0x400000, first + i * step, lines);
    EXPECT_EQ(lines[1], first + 4 * step);
    prefetcher.dropped(lines[1]);
    ASSERT_EQ(prefetcher.learn(0x400000, first + 3 * step, lines), 4);
    EXPECT_EQ(lines[0], first + 4 * step);
  }
}

// Three streams ask for more lines than there are buffers, each of which holds a line for 200 cycles.
TEST(Prefetchers, StreamsKeepAllBuffersBusy) {
  NodeSettings settings = small_node();
  settings.l2.prefetch = Prefetch::kStream;
  settings.fill_buffers = 10;
  for (const std::uint32_t buffers : {8u, 16u, 24u}) {
    settings.l2_fill_buffers = buffers;
    Node node(settings);
    const Block block = block_of(settings, times(3, load(1)));
    const double found = cycles_each(node, 2'000, [&](int i) {
      const auto line = static_cast<std::uint64_t>(i) * kLine;
      run(node.core(), block, {0x10000000 + line, 0x20000000 + line + 20 * kLine, 0x30000000 + line + 40 * kLine});
    });
    expect_near(found, 3 * 200.0 / buffers, 2);
  }
}

TEST(Prefetchers, DoNothingForARandomChase) {
  for (const Prefetch kind : {Prefetch::kStride, Prefetch::kStream}) {
    NodeSettings settings = small_node();
    settings.l1d.prefetch = settings.l2.prefetch = kind;
    Node node(settings);
    const Block block = block_of(settings, {load(1, 1)});
    const std::vector<std::uint64_t> addresses = chase_of(20'000, 0x10000000, 9 * kLine);
    const double found =
        cycles_each(node, 2'000, [&](int i) { run(node.core(), block, {addresses[static_cast<std::size_t>(i)]}); });
    expect_near(found, 200, 1);
    EXPECT_LT(node.core().memory.counts.prefetches, 4'000 / 100u);
  }
}

TEST(Prefetchers, CountTheirLinesButNotAsMisses) {
  NodeSettings settings = small_node();
  settings.l2.prefetch = Prefetch::kStream;
  Node node(settings);
  const Block block = block_of(settings, {load(1, 1)});
  for (std::uint64_t i = 0; i < 10 * kLinesPerPage; ++i) run(node.core(), block, {0x10000000 + i * kLine});
  const MemoryCounts& counts = node.core().memory.counts;
  EXPECT_EQ(counts.l2_misses, 10 * 3 + counts.l1i_misses);
  EXPECT_EQ(counts.prefetches, 10 * 61u);
  EXPECT_EQ(counts.memory_lines, counts.l2_misses + counts.prefetches);
}

TEST(Prefetchers, FetchTheNextLinesAtTheFirstUseOfAFetchedOne) {
  NodeSettings settings = small_node();
  settings.l1d.prefetch = Prefetch::kNextLine;
  Node node(settings);
  const Block block = block_of(settings, {load(1, 1)});
  for (std::uint64_t i = 0; i < kLinesPerPage; ++i) run(node.core(), block, {0x10000000 + i * kLine});
  EXPECT_EQ(node.core().memory.counts.l1d_misses, 1u);
  EXPECT_EQ(node.core().memory.counts.prefetches, kLinesPerPage - 1);
}

}  // namespace
}  // namespace manynode::node
