// Several jobs on one machine.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"

namespace manynode::smpi_engine::testing {
namespace {

network::RunConfig two_jobs() {
  auto config = machine();
  config.jobs[0].nodes = 2;
  config.jobs[0].hosts = {0, 2};
  config.jobs.push_back(config.jobs[0]);
  config.jobs[1].name = "other";
  config.jobs[1].hosts = {1, 3};
  return config;
}

TEST(Jobs, StartAndEndByThemselves) {
  auto config = two_jobs();
  config.jobs[1].start_s = 1e-3;
  const auto result = simulate_replica({program(one_way(1000, 1)), program(one_way(2000, 1))}, config, 0);
  EXPECT_NEAR(network::to_seconds(result.jobs[0].makespan), eager_time(1000, 4), kNear);
  EXPECT_NEAR(network::to_seconds(result.jobs[1].makespan), 1e-3 + eager_time(2000, 4), kNear);
  EXPECT_EQ(result.makespan, result.jobs[1].makespan);
}

TEST(Jobs, InTheBackgroundGoOnUntilTheOthersHaveEnded) {
  auto config = two_jobs();
  config.jobs[1].background = true;
  const auto body = [](Mpi& mpi) { mpi.sendrecv(1 - mpi.rank(), 1000, 0, 1 - mpi.rank(), 1000, 0); };
  const auto result = simulate_replica({program(body, 10), program(body, 1)}, config, 0);
  EXPECT_EQ(result.jobs[0].messages, 20u);
  EXPECT_GE(result.jobs[1].messages, 18u);
  EXPECT_EQ(result.makespan, result.jobs[0].makespan);
  EXPECT_EQ(result.jobs[1].makespan, result.makespan);
}

TEST(Jobs, InTheBackgroundThatTakeNoTimeAreRefused) {
  auto config = two_jobs();
  config.jobs[1].background = true;
  EXPECT_THROW(simulate_replica({program(one_way(1000, 1)), program([](Mpi&) {})}, config, 0),
               network::SimulationError);
}

TEST(Jobs, AreNamedWhereTheyWait) {
  const auto body = [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.recv(1, 8);
  };
  try {
    simulate_replica({program(one_way(1000, 1)), program(body)}, two_jobs(), 0);
    FAIL() << "no error";
  } catch (const network::SimulationError& error) {
    EXPECT_NE(error.details[0].find("rank 0 of job other waits in MPI_Recv"), std::string::npos) << error.details[0];
  }
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
