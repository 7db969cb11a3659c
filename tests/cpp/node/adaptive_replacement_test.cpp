// Adaptive replacement of the last level: its two policies by hand and by formula, and the duel between them.
#include "node.hpp"
#include "replacement_adaptive.hpp"

namespace manynode::node {
namespace {

using namespace testing;

constexpr std::uint32_t kWays = 16, kSets = 1024;

// Last-level caches of one core, accessed directly.
class Level {
 public:
  explicit Level(Replacement replacement, std::uint32_t sets = kSets, std::uint32_t ways = kWays,
                 Inclusion inclusion = Inclusion::kNeither, std::uint32_t caches = 1)
      : settings_(settings_of(replacement, sets, ways, inclusion, caches)),
        memory_("", Uncore::bytes(settings_)),
        uncore_(settings_, memory_.data()) {}

  // From now on, this one of several caches is meant.
  void use(std::uint32_t cache) { cache_ = cache; }
  Uncore::Answer read(std::uint64_t line) { return uncore_.read(cache_, line, 0); }
  bool remove(std::uint64_t line) { return uncore_.remove(cache_, line, 0); }
  // Reads these lines in order; returns the share that was there.
  double hits(std::uint64_t first, std::uint64_t count) {
    std::uint64_t found = 0;
    for (std::uint64_t line = first; line < first + count; ++line) found += read(line).hit;
    return static_cast<double>(found) / static_cast<double>(count);
  }
  double share_there(std::uint64_t first, std::uint64_t count) {
    std::uint64_t found = 0;
    for (std::uint64_t line = first; line < first + count; ++line) found += uncore_.holds(cache_, line, 0);
    return static_cast<double>(found) / static_cast<double>(count);
  }

 private:
  static NodeSettings settings_of(Replacement replacement, std::uint32_t sets, std::uint32_t ways, Inclusion inclusion,
                                  std::uint32_t caches) {
    NodeSettings settings = small_node();
    settings.last_level.replacement = replacement;
    settings.last_level.inclusion = inclusion;
    settings.last_level.sets = sets;
    settings.last_level.ways = ways;
    settings.last_levels = caches;
    return settings;
  }
  const NodeSettings settings_;
  SharedMemory memory_;
  Uncore uncore_;
  std::uint32_t cache_ = 0;
};

constexpr std::uint64_t kLines = std::uint64_t{kSets} * kWays;

// The only set of a cache follows the first policy, QLRU_H11_M1_R0_U0. Ages are written behind the lines, in the order
// of the ways.
TEST(AdaptiveReplacement, FollowsTheRulesOfQuadAgeLruInOneSet) {
  Level set(Replacement::kAdaptive, 1, 4, Inclusion::kInclusive);
  for (const std::uint64_t line : {1, 2, 3, 4}) EXPECT_EQ(set.read(line).victim, 0u);  // 1:1 2:1 3:1 4:1, older: all 3
  EXPECT_TRUE(set.read(2).hit);                                                        // 1:3 2:1 3:3 4:3
  EXPECT_EQ(set.read(5).victim, named(1, 0));                                          // 5:1 2:1 3:3 4:3
  EXPECT_TRUE(set.read(2).hit);                                                        // 5:1 2:0 3:3 4:3
  EXPECT_EQ(set.read(6).victim, named(3, 0));                                          // 5:1 2:0 6:1 4:3
  EXPECT_EQ(set.read(7).victim, named(4, 0));  // 5:1 2:0 6:1 7:1, older: 5:3 2:2 6:3 7:3
  EXPECT_TRUE(set.read(5).hit);                // 5:1 2:2 6:3 7:3
  EXPECT_TRUE(set.read(6).hit);                // 5:1 2:2 6:1 7:3
  EXPECT_TRUE(set.read(7).hit);                // 5:1 2:2 6:1 7:1, older: 5:2 2:3 6:2 7:2
  EXPECT_EQ(set.read(8).victim, named(2, 0));  // 5:2 8:1 6:2 7:2, older: 5:3 8:2 6:3 7:3
  EXPECT_TRUE(set.remove(6));
  EXPECT_EQ(set.read(9).victim, 0u) << "there is an empty way";  // 5:3 8:2 9:1 7:3
  EXPECT_EQ(set.read(10).victim, named(5, 0));
}

// A cycle of lines that is larger than the cache: least recently used misses nearly always. The best that any policy
// can do is to keep all but one of the ways of a set: (W - 1) / (C - 1) hits with C lines of the cycle in a set
// (Belady, 1966).
TEST(AdaptiveReplacement, KeepsAPartOfACycleThatDoesNotFit) {
  for (const double size : {1.25, 1.5, 2.0, 4.0}) {
    SCOPED_TRACE(size);
    const auto cycle = static_cast<std::uint64_t>(size * static_cast<double>(kLines));
    Level adaptive(Replacement::kAdaptive), lru(Replacement::kLru);
    for (int round = 0; round < 20; ++round) adaptive.hits(0, cycle);
    for (int round = 0; round < 2; ++round) lru.hits(0, cycle);
    const double found = adaptive.hits(0, cycle), best = (kWays - 1) / (size * kWays - 1);
    EXPECT_LT(found, best);
    EXPECT_GT(found, 0.8 * best);
    EXPECT_LT(lru.hits(0, cycle), 0.25 * best);
  }
}

// Lines that are read once replace each other: they take one way, and one more for each of the 16th part that is
// inserted with age 1. A scan of as many lines as the cache holds, W in a set, takes at most 1 + W / 16 = 2 ways of a
// set.
TEST(AdaptiveReplacement, KeepsWhatItHoldsWhenLinesAreReadOnce) {
  const std::uint64_t cycle = kLines * 3 / 2;
  Level adaptive(Replacement::kAdaptive), lru(Replacement::kLru);
  for (int round = 0; round < 20; ++round) adaptive.hits(0, cycle);
  for (int round = 0; round < 2; ++round) lru.hits(0, cycle);
  const double held = adaptive.share_there(0, cycle), held_by_lru = lru.share_there(0, cycle);
  EXPECT_EQ(adaptive.hits(2 * cycle, kLines), 0);
  EXPECT_EQ(lru.hits(2 * cycle, kLines), 0);
  EXPECT_GT(adaptive.share_there(0, cycle), held * (1 - 2.0 / kWays));
  EXPECT_LT(lru.share_there(0, cycle), held_by_lru / 4);
}

// The share of second uses that hit in a stream whose lines are used a second time after an eighth as many others as
// the cache holds, and then never again.
double second_uses(Level& level, std::uint64_t first, std::uint64_t count = 4 * kLines) {
  std::uint64_t found = 0;
  for (std::uint64_t line = 0; line < count; ++line) {
    level.read(first + line);
    if (line >= kLines / 8) found += level.read(first + line - kLines / 8).hit;
  }
  return static_cast<double>(found) / static_cast<double>(count - kLines / 8);
}

// The policy that inserts old lines would lose 15 of 16 of them before their second use. Each change of the pattern
// turns the duel.
TEST(AdaptiveReplacement, TheDuelChoosesThePolicyThatMissesLess) {
  const std::uint64_t cycle = kLines * 3 / 2;
  Level level(Replacement::kAdaptive);
  for (std::uint64_t turn = 1; turn <= 2; ++turn) {
    for (int round = 0; round < 20; ++round) level.hits(0, cycle);
    EXPECT_GT(level.hits(0, cycle), 0.8 * (kWays - 1) / (1.5 * kWays - 1));
    second_uses(level, turn * 100 * kLines);
    const double found = second_uses(level, (turn * 100 + 50) * kLines);
    EXPECT_GT(found, 0.9);
  }
}

TEST(AdaptiveReplacement, EachLastLevelHasADuelOfItsOwn) {
  Level level(Replacement::kAdaptive, kSets, kWays, Inclusion::kNeither, 2);
  level.use(1);
  second_uses(level, 0);  // this one inserts young lines
  level.use(0);
  for (int round = 0; round < 10; ++round) level.hits(0, 2 * kLines);  // and this one old ones
  level.use(1);
  EXPECT_GT(second_uses(level, 100 * kLines, kLines / 4), 0.9);
  level.use(0);
  EXPECT_LT(second_uses(level, 100 * kLines, kLines / 4), 0.5);
}

}  // namespace
}  // namespace manynode::node
