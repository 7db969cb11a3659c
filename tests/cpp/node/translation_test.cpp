// Address translation: misses of the first TLBs, page walks, code pages.
#include "node.hpp"

namespace manynode::node {
namespace {

using namespace testing;

constexpr double kL1 = 4, kL2 = 14, kSecond = 7, kWalk = 10;  // cycles

NodeSettings translating_node() {
  NodeSettings settings = small_node();
  settings.translation.present = true;
  settings.translation.code = {2, 2};     // 4 pages
  settings.translation.data = {4, 2};     // 8 pages
  settings.translation.second = {16, 2};  // 32 pages
  settings.translation.second_cycles = kSecond;
  settings.translation.walk_cycles = kWalk;
  return settings;
}

// One line in each of so many pages; the lines lie in different sets, so that the first level holds them.
std::vector<std::uint64_t> pages(std::uint64_t count) { return chase_of(count, 0x10000000, kPage + kLine); }

double chase(Node& node, const std::vector<std::uint64_t>& addresses) {
  const Block block = block_of(node.settings(), {load(1, 1)});
  return cycles_each(node, 3,
                     [&](int) {
                       for (const std::uint64_t address : addresses) run(node.core(), block, {address});
                       node.core().drain();
                     }) /
         static_cast<double>(addresses.size());
}

TEST(Translation, CostsNothingWhileTheFirstTlbHoldsThePages) {
  Node node(translating_node());
  EXPECT_DOUBLE_EQ(chase(node, pages(8)), kL1);
  EXPECT_EQ(node.core().memory.counts.tlb_misses, 8u + 1) << "each page once, and that of the code";
}

TEST(Translation, AMissOfTheFirstTlbCostsTheLatencyOfTheSecond) {
  Node node(translating_node());
  EXPECT_DOUBLE_EQ(chase(node, pages(16)), kSecond + kL1);
  EXPECT_EQ(node.core().memory.counts.tlb_misses, 6 * 16u + 1);
  EXPECT_EQ(node.core().memory.counts.page_walks, 16u + 1);
}

TEST(Translation, AMissOfTheSecondTlbWalksThePageTableWhoseEntryIsInACache) {
  Node node(translating_node());
  // 64 entries of page tables are 8 lines of the second level.
  expect_near(chase(node, pages(64)), kSecond + kWalk + kL2 + kL1, 1);
  EXPECT_EQ(node.core().memory.counts.page_walks, node.core().memory.counts.tlb_misses);
}

TEST(Translation, IsChargedToTheTlb) {
  Node node(translating_node());
  chase(node, pages(16));
  const auto of_misses = [&] {
    return cycles_of(node.core(), Cause::kMemory) + cycles_of(node.core(), Cause::kLastLevel) +
           cycles_of(node.core(), Cause::kL2);
  };
  const double tlb = cycles_of(node.core(), Cause::kTlb) / 4, misses = of_misses();
  chase(node, pages(16));
  // The translations, and of the first level's latency between them what the core runs ahead.
  const double steps = 6 * 16;
  EXPECT_GE(cycles_of(node.core(), Cause::kTlb) / 4 - tlb, steps * kSecond);
  EXPECT_LE(cycles_of(node.core(), Cause::kTlb) / 4 - tlb, steps * (kSecond + kL1));
  EXPECT_DOUBLE_EQ(of_misses(), misses);
}

TEST(Translation, StoresTranslateToo) {
  Node node(translating_node());
  const Block block = block_of(node.settings(), {store()});
  for (const std::uint64_t address : pages(16)) run(node.core(), block, {address});
  EXPECT_EQ(node.core().memory.counts.tlb_misses, 16u + 1);
}

// Stores of one line in each of 16 pages, twice what the first TLB holds; all is in the first level and the second TLB.
void warm_stores(Node& node, const Block& block) {
  for (int round = 0; round < 3; ++round) {
    for (const std::uint64_t address : pages(16)) run(node.core(), block, {address});
  }
  node.core().drain();
}

TEST(Translation, OfStoresIsChargedToTheTlbWhereTheyFillTheirQueue) {
  NodeSettings settings = translating_node();
  settings.core.store_queue = 1;
  Node node(settings);
  const Block block = block_of(node.settings(), {store()});
  const double each = cycles_each(node, 40, [&](int) { warm_stores(node, block); }) / 48;
  EXPECT_GT(each, kSecond - 1);
  EXPECT_GT(cycles_of(node.core(), Cause::kTlb) / 4, 0.8 * cycles(node.core(), node.settings()));
}

TEST(Translation, OfStoresIsNotWhatLoadsWaitFor) {
  NodeSettings settings = translating_node();
  settings.l1d = {4, 4, kL1, Prefetch::kNone};  // 16 lines
  Node node(settings);
  // A chase of the lines of one page, all in the second level, and a store into one of 16 pages beside each load.
  const Block block = block_of(node.settings(), {load(1, 1), store()});
  const std::vector<std::uint64_t> lines = chase_of(64), stored = pages(16);
  const double each = cycles_each(node, 1280, [&](int i) {
    run(node.core(), block, {lines[static_cast<std::size_t>(i) % 64], stored[static_cast<std::size_t>(i) % 16]});
  });
  expect_near(each, kL1 + kL2, 30);
  EXPECT_LT(cycles_of(node.core(), Cause::kTlb), 0.1 * cycles_of(node.core(), Cause::kL2));
}

TEST(Translation, MissesOfCodePagesAreWaitedFor) {
  Node node(translating_node());
  // A block in each of 8 pages, twice what the code's TLB holds; their lines fit into the instruction cache.
  std::vector<Block> code;
  for (std::uint64_t i = 0; i < 8; ++i) {
    code.push_back(block_of(node.settings(), times(4, of(Kind::kNone)), 0x400000 + i * (kPage + kLine)));
  }
  const double each = cycles_each(node, 4, [&](int) {
    for (const Block& block : code) run(node.core(), block);
  });
  EXPECT_DOUBLE_EQ(each / 8, 1 + kSecond);
}

TEST(Translation, LargerPagesNeedFewerEntries) {
  NodeSettings settings = translating_node();
  settings.translation.page_bits = 16;
  Node node(settings);
  EXPECT_DOUBLE_EQ(chase(node, pages(32)), kL1);  // 32 x 4,160 bytes lie in 3 pages of 64 KiB
}

}  // namespace
}  // namespace manynode::node
