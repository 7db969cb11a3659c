// Draws: repeatable, distributed as the profile says, following patterns, constant when asked.
#include "manynode/timing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

namespace manynode {
namespace {

// Uniform between two times.
Cluster uniform(double low_s, double high_s, double weight) {
  return {.mean_s = (low_s + high_s) / 2, .weight = weight, .time_s = {low_s, high_s}, .probability = {0, 1}};
}

TimingProfile one_phase(std::vector<Cluster> clusters, std::vector<std::uint32_t> sequence = {}) {
  return {.classes = {"0"}, .phases = {{{.clusters = std::move(clusters), .sequence = std::move(sequence)}}}};
}

TimingModel model(const TimingProfile& profile, bool constant = false, std::uint64_t seed = 1,
                  std::uint32_t replica = 0) {
  return {profile, std::vector<std::uint16_t>(4, 0), seed, replica, constant};
}

double mean_of_draws(const TimingModel& timing, std::uint32_t draws) {
  double sum = 0;
  for (std::uint32_t i = 0; i < draws; ++i) {
    sum += timing.draw(0, 0, i);
  }
  return sum / draws;
}

TEST(Timing, ADrawDependsOnlyOnItsKey) {
  const TimingProfile profile = one_phase({uniform(1, 2, 1)});
  const TimingModel first = model(profile);
  const TimingModel second = model(profile);
  const double value = first.draw(2, 0, 17);
  EXPECT_EQ(first.draw(2, 0, 17), value);
  EXPECT_EQ(second.draw(2, 0, 17), value);
}

TEST(Timing, EachPartOfTheKeyMakesAnotherDraw) {
  TimingProfile profile = one_phase({uniform(1, 2, 1)});
  profile.phases[0].push_back(profile.phases[0][0]);
  const double value = model(profile).draw(1, 0, 5);
  EXPECT_NE(model(profile).draw(2, 0, 5), value);
  EXPECT_NE(model(profile).draw(1, 1, 5), value);
  EXPECT_NE(model(profile).draw(1, 0, 6), value);
  EXPECT_NE(model(profile, false, 2).draw(1, 0, 5), value);
  EXPECT_NE(model(profile, false, 1 + (std::uint64_t{1} << 40)).draw(1, 0, 5), value);
  EXPECT_NE(model(profile, false, 1, 1).draw(1, 0, 5), value);
}

// Results travel between machines, so the bits of a draw are part of the contract.
TEST(Timing, DrawsAreTheSameOnEveryMachine) {
  const TimingProfile profile = one_phase({uniform(0, 1, 1)});
  // Philox 4x32-10 of counter (0, 0, 0, 0) and key (0, 0) begins 6627e8d5 e169c58d (Random123's known answers).
  const double expected = (static_cast<double>(0x6627e8d5e169c58dULL >> 11) + 0.5) * std::ldexp(1.0, -53);
  EXPECT_EQ(model(profile, false, 0).draw(0, 0, 0), expected);
}

TEST(Timing, TheMeanOfDrawsTendsToTheProfilesMean) {
  constexpr std::uint32_t kDraws = 100000;
  const Cluster skewed{.mean_s = 0.75 * 1.5 + 0.25 * 6, .weight = 1, .time_s = {1, 2, 10}, .probability = {0, 0.75, 1}};
  const TimingProfile profile = one_phase({skewed});
  // Var = E[x^2] - mean^2, of a mixture of two uniform pieces.
  const double variance = 0.75 * (7.0 / 3) + 0.25 * (124.0 / 3) - skewed.mean_s * skewed.mean_s;
  constexpr double kStandardErrors = 4;
  EXPECT_NEAR(mean_of_draws(model(profile), kDraws), skewed.mean_s, kStandardErrors * std::sqrt(variance / kDraws));
}

TEST(Timing, ClustersAreDrawnByWeight) {
  constexpr std::uint32_t kDraws = 100000;
  const TimingProfile profile = one_phase({uniform(1, 1, 0.2), uniform(5, 5, 0.8)});
  const double deviation = 4 * std::sqrt(0.2 * 0.8);  // of one draw
  EXPECT_NEAR(mean_of_draws(model(profile), kDraws), 0.2 * 1 + 0.8 * 5, 4 * deviation / std::sqrt(kDraws));
}

TEST(Timing, AConstantDrawIsTheMeanOfThePhase) {
  Cluster low = uniform(1, 2, 0.75);
  const Cluster high = uniform(10, 20, 0.25);
  low.mean_s = 1.25;  // the measured mean, which bins do not hold exactly
  const TimingProfile profile = one_phase({low, high});
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(model(profile, true, i, i).draw(i % 4, 0, i), 0.75 * 1.25 + 0.25 * 15);
  }
}

TEST(Timing, AConstantDrawOfAPatternIsTheMeanOfItsCluster) {
  const TimingProfile profile = one_phase({uniform(10, 20, 0.25), uniform(1, 2, 0.75)}, {0, 1, 1});
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(model(profile, true, i, i).draw(i % 4, 0, i), i % 3 == 0 ? 15 : 1.5);
  }
}

TEST(Timing, APatternIsFollowedAndRepeated) {
  const std::vector<std::uint32_t> sequence = {0, 1, 2, 2, 2, 1, 0};
  const TimingProfile profile = one_phase({uniform(8, 9, 0.3), uniform(4, 5, 0.3), uniform(1, 2, 0.4)}, sequence);
  const std::vector<double> floors = {8, 4, 1};
  for (std::uint32_t i = 0; i < 70; ++i) {
    EXPECT_EQ(std::floor(model(profile).draw(3, 0, i)), floors[sequence[i % 7]]);
  }
}

// Three simulated ranks: each has its own hundredths of the two clusters' times.
TimingProfile with_orders() {
  TimingProfile profile = one_phase({uniform(10, 20, 0.5), uniform(0, 1, 0.5)}, {0, 1});
  PhaseTiming& phase = profile.phases[0][0];
  phase.repeated = false;
  phase.percentiles = {{0, 99}, {50, 40}, {99, 7}};
  profile.phases[0].push_back(phase);
  return profile;
}

std::size_t row_of(const TimingProfile& profile, const TimingModel& timing, std::uint32_t rank, std::uint32_t phase) {
  const auto& rows = profile.phases[0][phase].percentiles;
  const auto hundredth = static_cast<int>(std::floor((timing.draw(rank, phase, 0) - 10) * 10));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row][0] == hundredth) return row;
  }
  ADD_FAILURE() << "no simulated rank was at hundredth " << hundredth;
  return 0;
}

TEST(Timing, ARankReplaysTheOrderOfASimulatedOne) {
  const TimingProfile profile = with_orders();
  std::vector<int> taken(3, 0);
  constexpr std::uint32_t kRanks = 3000;
  const std::vector<std::uint16_t> classes(kRanks, 0);
  const std::vector<std::uint32_t> nodes(kRanks, 0);
  const TimingModel timing(profile, classes, 1, 0, false, nodes);
  const TimingModel other(profile, classes, 1, 1, false, nodes);
  int changed = 0;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const std::size_t row = row_of(profile, timing, rank, 0);
    ++taken[row];
    EXPECT_EQ(row_of(profile, timing, rank, 1), row) << "the same simulated rank in all phases";
    changed += row_of(profile, other, rank, 0) != row ? 1 : 0;
    for (std::uint32_t draw = 0; draw < 6; ++draw) {
      const double time = timing.draw(rank, 0, draw);
      const double place = draw % 2 == 0 ? (time - 10) * 10 : time * 100;
      EXPECT_EQ(std::floor(place), profile.phases[0][0].percentiles[row][draw % 2]);
    }
  }
  for (const int count : taken) EXPECT_NEAR(count, kRanks / 3, 4 * std::sqrt(kRanks * 2 / 9.0));
  EXPECT_NEAR(changed, kRanks * 2 / 3, 4 * std::sqrt(kRanks * 2 / 9.0)) << "another replica draws other ranks";
}

TEST(Timing, OrdersChangeNoConstantTimeAndNoneWhereNothingPersists) {
  const TimingProfile profile = with_orders();
  TimingProfile without = profile;
  for (PhaseTiming& phase : without.phases[0]) phase.percentiles.clear();
  const TimingModel constant(profile, {0, 0}, 1, 0, true, {0, 0});
  for (std::uint32_t draw = 0; draw < 4; ++draw) {
    EXPECT_EQ(constant.draw(1, 0, draw), 7.75);
    EXPECT_EQ(model(profile).draw(1, 0, draw), model(without).draw(1, 0, draw));
  }
}

TEST(Timing, AClusterOfOneValueGivesThatValue) {
  const Cluster point{.mean_s = 3, .weight = 1, .time_s = {3}, .probability = {1}};
  const Cluster flat{.mean_s = 3, .weight = 1, .time_s = {3, 3}, .probability = {0, 1}};
  const Cluster both{.mean_s = 3, .weight = 1, .time_s = {3, 3}, .probability = {1, 1}};
  for (const Cluster& cluster : {point, flat, both}) {
    const TimingProfile profile = one_phase({cluster});
    for (std::uint32_t i = 0; i < 100; ++i) {
      EXPECT_EQ(model(profile).draw(0, 0, i), 3);
    }
  }
}

TEST(Timing, DrawsStayWithinTheDistribution) {
  const Cluster gap{.mean_s = 3, .weight = 1, .time_s = {1, 2, 4, 5}, .probability = {0.1, 0.5, 0.5, 1}};
  const TimingProfile profile = one_phase({gap});
  int at_first_edge = 0;
  constexpr int kDraws = 10000;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    const double time = model(profile).draw(0, 0, i);
    EXPECT_TRUE((time >= 1 && time <= 2) || (time >= 4 && time <= 5)) << time;
    at_first_edge += time == 1 ? 1 : 0;
  }
  EXPECT_NEAR(at_first_edge, 0.1 * kDraws, 4 * std::sqrt(0.09 * kDraws));
}

TEST(Timing, RanksDrawFromTheirClass) {
  TimingProfile profile = one_phase({uniform(1, 1, 1)});
  profile.classes.emplace_back("1");
  profile.phases.push_back({{.clusters = {uniform(7, 7, 1)}, .sequence = {}}});
  const TimingModel timing(profile, {0, 1, 0}, 1, 0, false);
  EXPECT_EQ(timing.draw(0, 0, 0), 1);
  EXPECT_EQ(timing.draw(1, 0, 0), 7);
  EXPECT_THROW(TimingModel(profile, {0, 2}, 1, 0, false), std::invalid_argument);
}

}  // namespace
}  // namespace manynode
