// Compute phases: draws when the event happens, sums as in the engine fast, times of the calls around them.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "played_rank.hpp"
#include "simulator.hpp"

namespace manynode::sst_element::testing {
namespace {

// Times between 1 and 2 us, never whole nanoseconds.
network::Program computing(Body body, int steps) {
  network::Program program = network::testing::loaded(std::move(body), steps);
  TimingProfile profile;
  profile.classes = {"all"};
  profile.phases = {{PhaseTiming{
      {Cluster{.mean_s = 1.5e-6, .weight = 1, .time_s = {1.0003e-6, 2.0007e-6}, .probability = {0, 1}}}, {}}}};
  program.profile = profile;
  return program;
}

TEST(ComputeTime, SumsToTheFastEnginesToTheNanosecond) {
  const network::RunConfig config = ranks_on(4);
  const network::Program program = computing([](Mpi& mpi) { mpi.compute(Phase{0}); }, 1000);
  const auto expected = network::simulate({program}, config, 0).jobs[0].ranks;
  const auto world = world_of(config, program);
  for (int r = 0; r < 4; ++r) {
    PlayedRank rank(*world, r);
    rank.play();
    const auto& fast_use = expected[static_cast<std::size_t>(r)][static_cast<std::size_t>(CallKind::Compute)];
    EXPECT_LE(std::abs(rank.use(CallKind::Compute).time - fast_use.time), 500) << "ps";
    EXPECT_EQ(rank.use(CallKind::Compute).calls, fast_use.calls);
    EXPECT_EQ(rank.use(CallKind::Compute).time, rank.now) << "what the probes say is what passed";
  }
}

TEST(ComputeTime, KeepsTheDifferencesBetweenRanksAndNodesThatTheFastEngineKeeps) {
  network::RunConfig config = ranks_on(4);
  network::Program program = computing([](Mpi& mpi) { mpi.compute(Phase{0}); }, 1000);
  const auto independent = network::simulate({program}, config, 0).jobs[0].ranks;
  program.profile->phases[0][0].rank_correlation = 0.6;
  program.profile->phases[0][0].node_correlation = 0.2;
  config.jobs[0].persistent = true;
  const auto expected = network::simulate({program}, config, 0).jobs[0].ranks;
  const auto world = world_of(config, program);
  constexpr auto kCompute = static_cast<std::size_t>(CallKind::Compute);
  for (int r = 0; r < 4; ++r) {
    PlayedRank rank(*world, r);
    rank.play();
    const auto at = static_cast<std::size_t>(r);
    EXPECT_LE(std::abs(rank.use(CallKind::Compute).time - expected[at][kCompute].time), 500) << "ps";
    // A rank's 1,000 independent times sum to 1,500 us to within 9 us (one standard deviation).
    EXPECT_LE(std::abs(independent[at][kCompute].time - 1500 * kMicrosecond), 40 * kMicrosecond);
  }
  const auto [least, most] = std::minmax_element(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
    return a[kCompute].time < b[kCompute].time;
  });
  EXPECT_GE((*most)[kCompute].time - (*least)[kCompute].time, 80 * kMicrosecond);
}

TEST(ComputeTime, IsAskedForTogetherWithTheCallThatFollowsAndNotChargedToIt) {
  const auto world = world_of(ranks_on(4), computing(
                                               [](Mpi& mpi) {
                                                 mpi.compute(Phase{0});
                                                 mpi.compute(Phase{0});
                                                 mpi.send(1, 8);
                                                 mpi.compute(Phase{0});
                                               },
                                               1));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds,
            (std::vector<std::vector<std::string>>{{"compute 0", "compute 0", "send 1 80000000 8"}, {"compute 0"}}));
  EXPECT_EQ(rank.use(CallKind::Send).time, kMicrosecond);
  EXPECT_EQ(rank.use(CallKind::Compute).time, rank.now - kMicrosecond);
}

TEST(ComputeTime, APauseIsAnEventWithoutAProfile) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) {
                                mpi.pause(1e-6);
                                mpi.send(1, 8);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (std::vector<std::vector<std::string>>{{"delay 1000", "send 1 80000000 8"}}));
  EXPECT_EQ(rank.use(CallKind::Compute).time, kMicrosecond);
  EXPECT_EQ(rank.use(CallKind::Send).time, kMicrosecond);
}

TEST(ComputeTime, WithoutAProfileIsNoEvent) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) { mpi.compute(Phase{0}); }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_TRUE(rank.rounds.empty());
  EXPECT_EQ(rank.use(CallKind::Compute).calls, 1u);
}

}  // namespace
}  // namespace manynode::sst_element::testing
