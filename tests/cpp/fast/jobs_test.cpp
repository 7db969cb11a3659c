// Several jobs on one machine, placement, jobs in the background.
#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

JobConfig job(const std::string& name, std::vector<std::uint32_t> hosts) {
  JobConfig config;
  config.name = name;
  config.nodes = static_cast<std::uint32_t>(hosts.size());
  config.hosts = std::move(hosts);
  return config;
}

// Hosts 0 and 1 hang on one leaf, 2 and 3 on the other; one root, so that all traffic between the leaves shares a link.
RunConfig narrow_machine() { return small_machine({2, 2}, {1, 1}, {1, 1}); }

constexpr std::uint64_t kBytes = 8000;

TEST(Jobs, ShareTheLinksButNotTheMessages) {
  auto config = narrow_machine();
  config.network.chunk_bytes = kBytes;
  config.jobs = {job("one", {0, 2}), job("other", {1, 3})};
  const auto result = simulate({loaded(one_way(kBytes, 1)), loaded(one_way(kBytes, 1))}, config, 0);
  EXPECT_EQ(result.jobs[0].makespan, eager_time(kBytes, 4));
  EXPECT_EQ(result.jobs[1].makespan, eager_time(kBytes, 4) + bytes_time(kBytes));
  EXPECT_EQ(result.makespan, result.jobs[1].makespan);
  EXPECT_EQ(result.jobs[0].messages, 1u);
  EXPECT_EQ(result.messages(), 2u);
}

TEST(Jobs, EachHasItsShareOfTheCounters) {
  auto config = narrow_machine();
  config.jobs = {job("one", {0, 2}), job("other", {1, 3})};
  const auto result = simulate({loaded(one_way(kBytes, 1)), loaded(one_way(2 * kBytes, 1))}, config, 0);
  const std::size_t classes = config.network.topology->link_classes().size();
  ASSERT_EQ(result.class_uses.size(), 2 * classes);
  Picoseconds stall = 0;
  for (std::size_t i = 0; i < classes; ++i) {
    EXPECT_EQ(result.class_uses[i].bytes, kBytes);
    EXPECT_EQ(result.class_uses[classes + i].bytes, 2 * kBytes);
    stall += result.class_uses[i].stall + result.class_uses[classes + i].stall;
  }
  Picoseconds of_links = 0;
  for (const auto& link : result.links) of_links += link.stall;
  EXPECT_EQ(stall, of_links);
  EXPECT_GT(stall, 0);
}

TEST(Jobs, StartWhenTheyAreTold) {
  auto config = narrow_machine();
  config.jobs = {job("one", {0, 2}), job("late", {1, 3})};
  config.jobs[1].start_s = 1e-3;
  const auto result = simulate({loaded(one_way(kBytes, 1)), loaded(one_way(kBytes, 1))}, config, 0);
  EXPECT_EQ(result.jobs[1].makespan, 1'000'000'000 + eager_time(kBytes, 4));
}

TEST(Jobs, PlacementDecidesTheRoute) {
  auto config = small_machine();
  config.jobs = {job("near", {2, 3})};
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 2));
  config.jobs = {job("far", {2, 1})};
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 4));
}

TEST(Jobs, CyclicOrderPutsNeighboursOnDifferentNodes) {
  auto config = small_machine();
  config.jobs[0].nodes = 2;
  config.jobs[0].ranks_per_node = 2;
  config.jobs[0].rank_order = RankOrder::Cyclic;
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 2));
  EXPECT_EQ(run(config, one_way(800, 2)).makespan,
            kOverheadSend + kIntranodeLatency + 800 * kIntranodePerByte + kOverheadReceive);
}

TEST(Jobs, ListedSlotsPutRanksWhereTheyAreToBe) {
  auto config = small_machine();
  config.jobs[0].nodes = 2;
  config.jobs[0].ranks_per_node = 2;
  config.jobs[0].rank_order = RankOrder::Listed;
  config.jobs[0].slots = {3, 0, 2, 1};
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 2)) << "slots 3 and 0 are on two nodes";
  EXPECT_EQ(run(config, one_way(800, 2)).makespan,
            kOverheadSend + kIntranodeLatency + 800 * kIntranodePerByte + kOverheadReceive)
      << "slots 3 and 2 are on one";
}

TEST(Jobs, InTheBackgroundGoOnUntilTheOthersHaveFinished) {
  auto config = narrow_machine();
  config.jobs = {job("main", {0, 2}), job("noise", {1, 3})};
  config.jobs[1].background = true;
  const auto program = [](Mpi& mpi) {
    for (int i = 0; i < 50; ++i) one_way(kBytes, 1)(mpi);
  };
  const auto alone = simulate(
      {loaded(program)},
      [&] {
        auto quiet = config;
        quiet.jobs.resize(1);
        return quiet;
      }(),
      0);
  const auto result = simulate({loaded(program), loaded(one_way(kBytes, 1))}, config, 0);
  EXPECT_GT(result.jobs[1].messages, 10u);
  EXPECT_GT(result.makespan, alone.makespan * 5 / 4);
  EXPECT_EQ(result.makespan, result.jobs[0].makespan);
}

TEST(Jobs, InTheBackgroundThatTakeNoTimeAreAnError) {
  auto config = small_machine();
  config.jobs = {job("main", {0, 1}), job("idle", {2, 3})};
  config.jobs[1].background = true;
  EXPECT_THROW(simulate({loaded(one_way(800, 1)), loaded([](Mpi& mpi) { mpi.compute(Phase{0}); })}, config, 0),
               SimulationError);
}

TEST(Jobs, ErrorsNameTheJob) {
  auto config = small_machine();
  config.jobs = {job("main", {0, 1}), job("second", {2, 3})};
  try {
    simulate({loaded(one_way(800, 1)), loaded([](Mpi& mpi) {
                if (mpi.rank() == 0) mpi.recv(1, 8);
              })},
             config, 0);
    FAIL();
  } catch (const SimulationError& error) {
    ASSERT_FALSE(error.details.empty());
    EXPECT_NE(error.details[0].find("rank 0 of job second"), std::string::npos) << error.details[0];
  }
}

}  // namespace
}  // namespace manynode::network::testing
