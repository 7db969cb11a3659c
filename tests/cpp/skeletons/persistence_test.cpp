// Differences that persist: draws of a rank and of a node are correlated, each draw is distributed as before; tails.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "../../../skeletons/source/normal.hpp"
#include "manynode/timing.hpp"

namespace manynode {
namespace {

constexpr std::uint32_t kRanks = 4000;
constexpr std::uint32_t kPerNode = 4;
constexpr std::uint32_t kDraws = 20;

// The scores of a normal distribution as times: a quantile function in 100 bins, from -3 to 3 (moved by 10).
Cluster normal_times(double weight) {
  Cluster cluster{.mean_s = 10, .weight = weight, .time_s = {}, .probability = {}};
  for (int i = 0; i <= 100; ++i) {
    const double score = -3 + 6 * i / 100.0;
    cluster.time_s.push_back(10 + score);
    cluster.probability.push_back(i == 0 ? 0 : i == 100 ? 1 : normal_cdf(score));
  }
  return cluster;
}

TimingProfile profile_of(PhaseTiming phase, std::size_t phases = 1) {
  return {.classes = {"0"}, .phases = {std::vector<PhaseTiming>(phases, phase)}};
}

PhaseTiming phase_of(std::vector<Cluster> clusters, double node, double rank, double common = 0,
                     std::vector<std::uint32_t> sequence = {}) {
  return {.clusters = std::move(clusters),
          .sequence = std::move(sequence),
          .node_correlation = node,
          .rank_correlation = rank,
          .common = common};
}

std::vector<std::uint32_t> nodes() {
  std::vector<std::uint32_t> found;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) found.push_back(rank / kPerNode);
  return found;
}

TimingModel persistent(const TimingProfile& profile, bool constant = false) {
  return {profile, std::vector<std::uint16_t>(kRanks, 0), 1, 0, constant, nodes()};
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0;
  double mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / n;
    mean_b += b[i] / n;
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

// Of two draws of each rank, or of a rank and its neighbour on the node.
double correlation_of_draws(const TimingModel& timing, std::uint32_t phase_a, std::uint32_t phase_b,
                            std::uint32_t step) {
  std::vector<double> a;
  std::vector<double> b;
  for (std::uint32_t rank = 0; rank + step < kRanks; rank += kPerNode) {
    for (std::uint32_t i = 0; i < kDraws; i += 2) {
      a.push_back(timing.draw(rank, phase_a, i));
      b.push_back(timing.draw(rank + step, phase_b, i + 1));
    }
  }
  return correlation(a, b);
}

// 1,000 nodes: a correlation is known to 0.03 (one standard error).
constexpr double kBand = 0.1;

TEST(Normal, TheQuantileIsTheInverseOfTheDistribution) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-13);
  EXPECT_EQ(normal_quantile(0.5), 0);
  for (double score = -8; score <= 5; score += 0.125) {
    EXPECT_NEAR(normal_quantile(normal_cdf(score)), score, 1e-9) << score;
  }
}

TEST(Persistence, DrawsOfARankAndOfANodeAreCorrelatedAsTheProfileSays) {
  const TimingProfile profile = profile_of(phase_of({normal_times(1)}, 0.3, 0.4));
  const TimingModel timing = persistent(profile);
  EXPECT_NEAR(correlation_of_draws(timing, 0, 0, 0), 0.7, kBand) << "one rank";
  EXPECT_NEAR(correlation_of_draws(timing, 0, 0, 1), 0.3, kBand) << "two ranks of a node";
  EXPECT_NEAR(correlation_of_draws(timing, 0, 0, kPerNode), 0, kBand) << "ranks of two nodes";
}

TEST(Persistence, EveryDrawIsDistributedAsWithoutIt) {
  const TimingProfile profile = profile_of(phase_of({normal_times(1)}, 0.3, 0.4));
  const TimingModel timing = persistent(profile);
  double sum = 0;
  double squares = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const double time = timing.draw(rank, 0, 7) - 10;
    sum += time;
    squares += time * time;
  }
  EXPECT_NEAR(sum / kRanks, 0, 4 * std::sqrt((0.3 * kPerNode + 0.7) / kRanks));
  EXPECT_NEAR(squares / kRanks, 0.97, 0.12) << "of a normal distribution cut at 3";
}

TEST(Persistence, WithoutCorrelationDrawsHaveTheSameBits) {
  const TimingProfile profile = profile_of(phase_of({normal_times(0.5), normal_times(0.5)}, 0, 0));
  const TimingModel with = persistent(profile);
  const TimingModel without(profile, std::vector<std::uint16_t>(kRanks, 0), 1, 0, false);
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(with.draw(i, 0, i), without.draw(i, 0, i));
}

TEST(Persistence, IsPairedWithTheIndependentDraws) {
  const TimingProfile profile = profile_of(phase_of({normal_times(1)}, 0, 0.2));
  const TimingModel with = persistent(profile);
  const TimingModel without(profile, std::vector<std::uint16_t>(kRanks, 0), 1, 0, false);
  std::vector<double> a;
  std::vector<double> b;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    a.push_back(with.draw(rank, 0, 3));
    b.push_back(without.draw(rank, 0, 3));
  }
  EXPECT_NEAR(correlation(a, b), std::sqrt(0.8), 0.03);
}

TEST(Persistence, PhasesShareWhatTheyHaveInCommon) {
  const TimingProfile profile = profile_of(phase_of({normal_times(1)}, 0, 0.8, 0.5), 2);
  EXPECT_NEAR(correlation_of_draws(persistent(profile), 0, 1, 0), 0.4, kBand);
  const TimingProfile apart = profile_of(phase_of({normal_times(1)}, 0, 0.8, 0), 2);
  EXPECT_NEAR(correlation_of_draws(persistent(apart), 0, 1, 0), 0, kBand);
}

TEST(Persistence, ARankThatDiffersWhollyAlwaysTakesTheSameTime) {
  const TimingProfile profile = profile_of(phase_of({normal_times(1)}, 0, 1));
  const TimingModel timing = persistent(profile);
  for (std::uint32_t rank = 0; rank < 50; ++rank) {
    EXPECT_EQ(timing.draw(rank, 0, 0), timing.draw(rank, 0, 99));
    EXPECT_NE(timing.draw(rank, 0, 0), timing.draw(rank + 1, 0, 0));
  }
}

TEST(Persistence, ARankMayStayInOneOfTheClustersThatAreDrawnByWeight) {
  const Cluster slow{.mean_s = 5, .weight = 0.25, .time_s = {4, 6}, .probability = {0, 1}};
  const Cluster quick{.mean_s = 1, .weight = 0.75, .time_s = {0, 2}, .probability = {0, 1}};
  const TimingProfile profile = profile_of(phase_of({slow, quick}, 0, 1));
  const TimingModel timing = persistent(profile);
  int slow_ranks = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const bool is_slow = timing.draw(rank, 0, 0) >= 4;
    EXPECT_EQ(timing.draw(rank, 0, 1) >= 4, is_slow);
    slow_ranks += is_slow ? 1 : 0;
  }
  EXPECT_NEAR(slow_ranks, 0.25 * kRanks, 4 * std::sqrt(0.25 * 0.75 * kRanks));
}

TEST(Persistence, PatternsAndConstantTimesAreKept) {
  const Cluster slow{.mean_s = 5, .weight = 0.5, .time_s = {4, 6}, .probability = {0, 1}};
  const Cluster quick{.mean_s = 1, .weight = 0.5, .time_s = {0, 2}, .probability = {0, 1}};
  const TimingProfile profile = profile_of(phase_of({slow, quick}, 0.4, 0.6, 0.5, {0, 1}));
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(persistent(profile).draw(9, 0, i) >= 4, i % 2 == 0);
    EXPECT_EQ(persistent(profile, true).draw(9, 0, i), i % 2 == 0 ? 5 : 1);
  }
}

TEST(Persistence, EveryRankNeedsItsNode) {
  const TimingProfile profile = profile_of(phase_of({normal_times(1)}, 0, 0.5));
  EXPECT_THROW(TimingModel(profile, {0, 0, 0}, 1, 0, false, {0, 0}), std::invalid_argument);
}

// With times uniform below the threshold at probability 0.9, and exponential or Pareto above it.
TEST(Tail, IsDrawnFromAboveItsThresholdWhenItIsAskedFor) {
  for (const double shape : {0.0, 0.25, -0.5}) {
    Cluster cluster{.mean_s = 1, .weight = 1, .time_s = {0, 1, 2}, .probability = {0, 0.9, 1}};
    cluster.tail = {.probability = 0.9, .threshold_s = 1, .scale_s = 2, .shape = shape};
    const TimingProfile profile = profile_of(phase_of({cluster}, 0, 0));
    const TimingModel plain(profile, {0}, 1, 0, false);
    const TimingModel tailed(profile, {0}, 1, 0, false, {}, true);
    double excess = 0;
    int exceeding = 0;
    constexpr int kMany = 100000;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      const double time = tailed.draw(0, 0, i);
      if (time <= 1) {
        EXPECT_EQ(time, plain.draw(0, 0, i));
        continue;
      }
      ++exceeding;
      excess += time - 1;
    }
    EXPECT_NEAR(exceeding, 0.1 * kMany, 4 * std::sqrt(0.09 * kMany));
    const double mean = 2 / (1 - shape);  // of a generalised Pareto distribution
    const double deviation = mean / std::sqrt(1 - 2 * std::min(shape, 0.3));
    EXPECT_NEAR(excess / exceeding, mean, 5 * deviation / std::sqrt(exceeding)) << shape;
  }
}

}  // namespace
}  // namespace manynode
