// Flows that cross a link at the same time share it equally, whatever the length of their routes.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"

namespace manynode::smpi_engine::testing {
namespace {

constexpr std::uint64_t kBytes = 10'000'000;
constexpr double kAlone = kBytes * kPerByte;

// The sum of what is not bytes over bandwidth is below this.
constexpr double kLatencies = 5e-6;

TEST(Sharing, TwoFlowsToOneHostGetHalfOfItsLink) {
  const auto incast = [](Mpi& mpi) {
    if (mpi.rank() == 1 || mpi.rank() == 2) mpi.send(0, kBytes);
    if (mpi.rank() == 0) {
      const std::vector<Request> both = {mpi.irecv(1, kBytes), mpi.irecv(2, kBytes)};
      mpi.waitall(both);
    }
  };
  const auto result = run(machine(), incast);
  EXPECT_NEAR(network::to_seconds(result.makespan), 2 * kAlone, kLatencies);
  // Rank 1 is two links away and rank 2 four: neither is ahead of the other.
  const auto send = static_cast<std::size_t>(CallKind::Send);
  const auto near_s = network::to_seconds(result.jobs[0].ranks[1][send].time);
  const auto far_s = network::to_seconds(result.jobs[0].ranks[2][send].time);
  EXPECT_NEAR(near_s, far_s, kLatencies);
}

TEST(Sharing, DirectionsOfACableAreApart) {
  const auto exchange = [](Mpi& mpi) {
    if (mpi.rank() <= 1) mpi.sendrecv(1 - mpi.rank(), kBytes, 0, 1 - mpi.rank(), kBytes, 0);
  };
  EXPECT_NEAR(makespan_s(machine(), exchange), kAlone, kLatencies);
}

TEST(Sharing, RanksOfANodeShareItsNic) {
  const auto both_out = [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 4, kBytes);
    if (mpi.rank() == 4 || mpi.rank() == 5) mpi.recv(mpi.rank() - 4, kBytes);
  };
  EXPECT_NEAR(makespan_s(machine({2, 2}, {1, 2}, 2), both_out), 2 * kAlone, kLatencies);
}

TEST(Sharing, PairsWithinANodeDoNotSlowEachOtherDown) {
  const auto pairs = [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, kBytes);
    if (mpi.rank() == 2 || mpi.rank() == 3) mpi.recv(mpi.rank() - 2, kBytes);
  };
  EXPECT_NEAR(makespan_s(machine({2, 2}, {1, 2}, 4), pairs), kBytes * kIntranodePerByte, kLatencies);
}

TEST(Sharing, NoneWithoutContention) {
  auto config = machine();
  config.network.contention = false;
  const auto incast = [](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, kBytes);
    if (mpi.rank() == 0) {
      const std::vector<Request> all = {mpi.irecv(1, kBytes), mpi.irecv(2, kBytes), mpi.irecv(3, kBytes)};
      mpi.waitall(all);
    }
  };
  EXPECT_NEAR(makespan_s(config, incast), kAlone, kLatencies);
}

TEST(Sharing, RailsOfANodeAreApart) {
  auto config = machine({2, 2}, {1, 2}, 2);
  config.network.host.rails = 2;  // two nodes of two NICs
  config.jobs[0].nodes = 2;
  const auto both_out = [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, kBytes);
    if (mpi.rank() >= 2) mpi.recv(mpi.rank() - 2, kBytes);
  };
  EXPECT_NEAR(makespan_s(config, both_out), kAlone, kLatencies);
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
