// Collectives are the messages of the library of algorithms, so that closed formulas of the algorithms hold.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"
#include "rare_calls.hpp"

namespace manynode::smpi_engine::testing {
namespace {

TEST(Collectives, RecursiveDoublingTakesARoundForEachDoubling) {
  auto config = machine({2, 4}, {1, 4});
  config.collectives.allreduce = "recursive_doubling";
  constexpr std::uint64_t kBytes = 1000;
  const auto body = [](Mpi& mpi) { mpi.allreduce(kBytes); };
  // Eight ranks: the first round stays under the leaf (two links), the other two cross it (four).
  const double expected_s = eager_time(kBytes, 2) + 2 * eager_time(kBytes, 4) + 3 * kBytes * kReducePerByte;
  EXPECT_NEAR(makespan_s(config, body), expected_s, 3 * kNear);
}

TEST(Collectives, RingSendsEachShareAroundTwice) {
  auto config = machine({4}, {1});
  config.collectives.allreduce = "ring";
  constexpr std::uint64_t kBytes = 40'000;
  const auto body = [](Mpi& mpi) { mpi.allreduce(kBytes); };
  const double expected_s = 6 * eager_time(kBytes / 4, 2) + 3 * (kBytes / 4) * kReducePerByte;
  EXPECT_NEAR(makespan_s(config, body), expected_s, 6 * kNear);
}

TEST(Collectives, TheOwnWorkOfARankTakesTime) {
  auto config = machine({4}, {1});
  config.collectives.allgather = "bruck";
  config.collectives.allreduce = "recursive_doubling";
  constexpr std::uint64_t kBytes = 1000;
  config.network.host.collective_call_s = 5e-6;
  config.network.host.collective_step_s = 2e-6;
  config.network.host.copy_bandwidth_Bps = network::BandwidthBySize({{0, 1e9}, {4 * kBytes, 1e8}});
  config.network.host.reduce_bandwidth_Bps = network::BandwidthBySize({{0, 1e9}, {kBytes, 5e8}});
  const double two_steps_s = 5e-6 + 2 * 2e-6;
  // Rank 0 copies its share, then all four at the slower rate. An allreduce first copies the vector.
  EXPECT_NEAR(makespan_s(config, [](Mpi& mpi) { mpi.allgather(kBytes); }),
              two_steps_s + eager_time(kBytes, 2) + eager_time(2 * kBytes, 2) + 1e-6 + 40e-6, 2 * kNear);
  EXPECT_NEAR(makespan_s(config, [](Mpi& mpi) { mpi.allreduce(kBytes); }),
              two_steps_s + 1e-6 + 2 * eager_time(kBytes, 2) + 2 * 2e-6, 2 * kNear);
}

TEST(Collectives, RareCallsEnd) {
  EXPECT_EQ(failure(machine(), [](Mpi& mpi) { manynode::testing::emit_rare_calls(mpi, 8); }), "no error");
  EXPECT_EQ(failure(machine(), [](Mpi& mpi) { manynode::testing::emit_rare_calls(mpi, 50'000); }), "no error");
}

TEST(Collectives, OfOtherCommunicatorsDoNotMeet) {
  const auto body = [](Mpi& mpi) {
    const Communicator row = mpi.split(kWorld, [](int rank) { return std::pair{rank / 2, rank}; });
    mpi.allreduce(8, row);
    mpi.allreduce(8);
    mpi.barrier(row);
  };
  EXPECT_EQ(failure(machine(), body), "no error");
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
