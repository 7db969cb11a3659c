// What a replica's result holds: times per operation, ends of steps, bytes per link; the same every time.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"

namespace manynode::smpi_engine::testing {
namespace {

TEST(Result, SecondsOfARankAddUpToItsEnd) {
  const auto body = [](Mpi& mpi) {
    mpi.sendrecv((mpi.rank() + 1) % 4, 5000, 0, (mpi.rank() + 3) % 4, 5000, 0);
    mpi.barrier();
  };
  const auto result = run(machine(), body, 3);
  for (const auto& rank : result.jobs[0].ranks) {
    network::Picoseconds sum = 0;
    for (const auto& use : rank) sum += use.time;
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, result.makespan);
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Sendrecv)].calls, 3u);
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Sendrecv)].bytes, 15'000u);
  }
  ASSERT_EQ(result.jobs[0].iteration_end.size(), 3u);
  EXPECT_EQ(result.jobs[0].iteration_end.back(), result.makespan);
  EXPECT_LT(result.jobs[0].iteration_end[0], result.jobs[0].iteration_end[1]);
}

TEST(Result, LinksCarryTheBytesOfTheirRoutes) {
  const auto config = machine();
  const auto result = run(config, one_way(5000, 2));
  std::uint64_t used = 0;
  for (const auto& link : result.links) {
    if (link.chunks == 0) continue;
    ++used;
    EXPECT_EQ(link.bytes, 5000u);
    EXPECT_EQ(link.busy, 500'000);
    EXPECT_EQ(link.stall, 0);  // SimGrid does not tell
  }
  EXPECT_EQ(used, 4u);
  std::uint64_t bytes = 0;
  for (const auto& use : result.class_uses) bytes += use.bytes;
  EXPECT_EQ(bytes, 4 * 5000u);
}

TEST(Result, IsTheSameEveryTime) {
  const auto body = [](Mpi& mpi) { mpi.alltoall(3000); };
  const auto first = run(machine(), body);
  const auto second = run(machine(), body);
  EXPECT_EQ(first.makespan, second.makespan);
  EXPECT_EQ(first.jobs[0].ranks[3][static_cast<std::size_t>(CallKind::Alltoall)].time,
            second.jobs[0].ranks[3][static_cast<std::size_t>(CallKind::Alltoall)].time);
}

TEST(Result, APauseTakesItsTimeWithoutAProfile) {
  const auto result = simulate_replica({program([](Mpi& mpi) { mpi.pause(2e-6); }, 3)}, machine(), 0);
  EXPECT_NEAR(network::to_seconds(result.makespan), 6e-6, kNear);
}

TEST(Result, ComputesWhatTheProfileSays) {
  TimingProfile profile;
  profile.classes = {"0"};
  profile.phases = {{PhaseTiming{{Cluster{2e-6, 1, {1e-6, 3e-6}, {0, 1}}}, {}}}};
  auto config = machine();
  config.jobs[0].constant = true;
  auto with_profile = program([](Mpi& mpi) { mpi.compute(Phase{0}); }, 4);
  with_profile.profile = profile;
  EXPECT_NEAR(network::to_seconds(simulate_replica({with_profile}, config, 0).makespan), 8e-6, kNear);
  config.jobs[0].constant = false;
  const TimingModel model(profile, {0, 0, 0, 0}, config.seed, 2, false);
  double slowest_s = 0;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    double sum_s = 0;
    for (std::uint32_t draw = 0; draw < 4; ++draw) sum_s += model.draw(rank, 0, draw);
    slowest_s = std::max(slowest_s, sum_s);
  }
  EXPECT_NEAR(network::to_seconds(simulate_replica({with_profile}, config, 2).makespan), slowest_s, kNear);
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
