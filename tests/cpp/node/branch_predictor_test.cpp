// Branch predictors: what each of them learns.
#include "branch_predictor.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace manynode::node {

void PrintTo(Predictor kind, std::ostream* out) { *out << (kind == Predictor::kTage ? "TAGE" : "gshare"); }

namespace {

constexpr std::uint64_t kAt = 0x400100, kNext = 0x400102, kTarget = 0x400000;

// Part of the last half of `count` predictions that are wrong; outcome(i) says whether branch i is taken.
template <typename Outcome>
double wrong(Predictor kind, int count, Outcome&& outcome) {
  BranchPredictor predictor(kind);
  int misses = 0;
  for (int i = 0; i < count; ++i) {
    const bool right = predictor.is_right(Ending::kConditional, kAt, kNext, outcome(i) ? kTarget : kNext);
    misses += i >= count / 2 && !right;
  }
  return misses / (count / 2.0);
}

class BranchPredictors : public ::testing::TestWithParam<Predictor> {};
INSTANTIATE_TEST_SUITE_P(Both, BranchPredictors, ::testing::Values(Predictor::kGshare, Predictor::kTage),
                         [](const auto& info) { return info.param == Predictor::kTage ? "Tage" : "Gshare"; });

TEST_P(BranchPredictors, PredictBranchesThatGoOneWay) {
  EXPECT_EQ(wrong(GetParam(), 2000, [](int) { return true; }), 0);
  EXPECT_EQ(wrong(GetParam(), 2000, [](int) { return false; }), 0);
}

TEST_P(BranchPredictors, LearnShortPeriods) {
  for (const int period : {2, 3, 5, 8, 12}) {
    EXPECT_LE(wrong(GetParam(), 20'000, [&](int i) { return i % period != 0; }), 0.002) << period;
  }
}

TEST_P(BranchPredictors, LearnAPatternOfTwelveOutcomes) {
  constexpr int kPattern = 0b110100011011;
  EXPECT_LE(wrong(GetParam(), 20'000, [](int i) { return (kPattern >> i % 12 & 1) != 0; }), 0.002);
}

TEST_P(BranchPredictors, AreWrongHalfTheTimeAboutRandomBranches) {
  std::mt19937 random(3);
  EXPECT_NEAR(wrong(GetParam(), 40'000, [&](int) { return (random() & 1) != 0; }), 0.5, 0.02);
}

TEST_P(BranchPredictors, AreWrongAboutTheRareOutcomeOfABiasedBranch) {
  std::mt19937 random(3);
  const double found = wrong(GetParam(), 40'000, [&](int) { return random() % 10 != 0; });
  EXPECT_GE(found, 0.095);
  // The best is 0.1. Histories that look like a pattern cost up to as much again.
  EXPECT_LE(found, 0.2);
}

TEST_P(BranchPredictors, LearnABranchThatRepeatsTheOneBefore) {
  BranchPredictor predictor(GetParam());
  std::mt19937 random(3);
  int misses = 0;
  for (int i = 0; i < 20'000; ++i) {
    const bool taken = (random() & 1) != 0;
    predictor.is_right(Ending::kConditional, kAt, kNext, taken ? kTarget : kNext);
    const bool right = predictor.is_right(Ending::kConditional, kAt + 64, kNext + 64, taken ? kTarget : kNext + 64);
    misses += i >= 10'000 && !right;
  }
  EXPECT_LE(misses / 10'000.0, 0.1);
}

// A loop of 27 rounds: its exit is known by a history of 27 outcomes, of which gshare keeps 14.
TEST(BranchPredictor, TageLearnsTheExitOfALoopThatIsLongerThanGsharesHistory) {
  const auto loop = [](int i) { return i % 27 != 26; };
  EXPECT_LE(wrong(Predictor::kTage, 40'000, loop), 0.002);
  EXPECT_NEAR(wrong(Predictor::kGshare, 40'000, loop), 1 / 27.0, 0.001) << "each exit";
}

// Two exits in a period: no loop with a constant number of iterations. The longest history has 130 outcomes and holds
// two such periods.
TEST(BranchPredictor, TageLearnsPeriodsUpToItsLongestHistory) {
  const auto twice = [](int period) { return [period](int i) { return i % period != 0 && i % period != 5; }; };
  for (const int period : {24, 40, 57, 63}) {
    EXPECT_LE(wrong(Predictor::kTage, 100'000, twice(period)), 0.25 / period) << period;
  }
  EXPECT_GE(wrong(Predictor::kTage, 100'000, twice(200)), 0.75 / 200) << "the exit after 195 iterations at least";
}

TEST(BranchPredictor, TheLoopPredictorKnowsConstantNumbersOfIterations) {
  for (const int period : {27, 200, 5000}) {
    // Five exits are wrong until the number is trusted; TAGE may know some of them.
    EXPECT_LE(wrong(Predictor::kTage, 100 * period, [&](int i) { return i % period != period - 1; }),
              6.0 / (100 * period))
        << period;
  }
  // Alternating numbers of iterations, too long for TAGE: the loop predictor trusts none of them.
  const auto alternating = [](int i) { return i % 1100 != 499 && i % 1100 != 1099; };
  EXPECT_NEAR(wrong(Predictor::kTage, 110'000, alternating), 2 / 1100.0, 0.3 / 1100);
}

TEST(BranchPredictor, ReturnsFollowTheStackOfCalls) {
  BranchPredictor predictor(Predictor::kTage);
  for (std::uint64_t depth = 0; depth < 32; ++depth) {
    EXPECT_TRUE(predictor.is_right(Ending::kCall, 0x1000 + depth, 0x2000 + depth, 0));
  }
  for (std::uint64_t depth = 32; depth-- > 0;) {
    EXPECT_TRUE(predictor.is_right(Ending::kReturn, 0x3000, 0x3001, 0x2000 + depth)) << depth;
  }
  predictor.is_right(Ending::kCall, 0x1000, 0x2000, 0);
  EXPECT_FALSE(predictor.is_right(Ending::kReturn, 0x3000, 0x3001, 0x2001)) << "a return to elsewhere";
}

TEST(BranchPredictor, TheStackOfCallsKeepsTheLatest32) {
  BranchPredictor predictor(Predictor::kTage);
  for (std::uint64_t depth = 0; depth < 40; ++depth) predictor.is_right(Ending::kCall, 0, 0x2000 + depth, 0);
  int right = 0;
  for (std::uint64_t depth = 40; depth-- > 0;) {
    right += predictor.is_right(Ending::kReturn, 0x3000, 0x3001, 0x2000 + depth);
  }
  EXPECT_EQ(right, 32);
}

TEST(BranchPredictor, IndirectCallsPushTheirReturn) {
  BranchPredictor predictor(Predictor::kTage);
  predictor.is_right(Ending::kIndirectCall, 0x1000, 0x1002, 0x5000);
  EXPECT_TRUE(predictor.is_right(Ending::kReturn, 0x5010, 0x5011, 0x1002));
}

TEST(BranchPredictor, IndirectTargetsAreKnownByTheTargetsBefore) {
  BranchPredictor predictor(Predictor::kTage);
  const std::vector<std::uint64_t> targets{0x5010, 0x6340, 0x5010, 0x71c0};  // after 0x5010 comes one or the other
  int misses = 0;
  for (int i = 0; i < 1000; ++i) {
    misses += !predictor.is_right(Ending::kIndirectJump, kAt, kNext, targets[static_cast<std::size_t>(i % 4)]);
  }
  EXPECT_LT(misses, 20);
}

TEST(BranchPredictor, AnIndirectBranchWithATargetThatNeverCameIsWrong) {
  BranchPredictor predictor(Predictor::kTage);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(predictor.is_right(Ending::kIndirectJump, kAt, kNext, 0x5000 + 64 * i));
  }
}

TEST(BranchPredictor, DirectJumpsAreAlwaysRight) {
  BranchPredictor predictor(Predictor::kGshare);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(predictor.is_right(Ending::kJump, kAt + i, kNext + i, 0x9000 + i));
    EXPECT_TRUE(predictor.is_right(Ending::kNone, kAt + i, kNext + i, kNext + i));
  }
}

TEST(BranchPredictor, TageLearnsManyBranchesAtOnce) {
  // 500 branches, each with a direction of its own, in an order that repeats.
  BranchPredictor predictor(Predictor::kTage);
  int misses = 0;
  for (int round = 0; round < 40; ++round) {
    for (std::uint64_t branch = 0; branch < 500; ++branch) {
      const std::uint64_t at = 0x400000 + 24 * branch;
      const bool taken = (branch * 0x9e3779b97f4a7c15u >> 63) != 0;
      const bool right = predictor.is_right(Ending::kConditional, at, at + 2, taken ? kTarget : at + 2);
      misses += round >= 20 && !right;
    }
  }
  EXPECT_LT(misses / (20.0 * 500), 0.01);
}

}  // namespace
}  // namespace manynode::node
