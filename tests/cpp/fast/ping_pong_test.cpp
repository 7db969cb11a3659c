#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(PingPong, TakesTwiceOneWayForEachRound) {
  auto application = make_application(
      "patterns",
      Parameters(
          {{"pattern", std::string("ping-pong")}, {"bytes", std::int64_t{800}}, {"iterations", std::int64_t{5}}}),
      4);
  const auto result = simulate({{std::move(application), std::nullopt}}, small_machine(), 0);
  EXPECT_EQ(result.makespan, 5 * 2 * eager_time(800, 4));
  EXPECT_EQ(result.messages(), 10u);
}

TEST(PingPong, ALatencyBySizeIsOnceForEachMessageAndKeepsNobodyBusy) {
  const auto time = [](RunConfig config, std::uint64_t bytes, int messages) {
    return run(config,
               [=](Mpi& mpi) {
                 std::vector<Request> requests;
                 for (int i = 0; i < messages; ++i) {
                   if (mpi.rank() == 0) requests.push_back(mpi.isend(2, bytes));
                   if (mpi.rank() == 2) requests.push_back(mpi.irecv(0, bytes));
                 }
                 mpi.waitall(requests);
               })
        .makespan;
  };
  auto config = small_machine();
  config.network.host.message_latency = {{0, 0, 0}, {800, 1e-6, 0}, {20'000, 2e-6, 1e-10}};
  EXPECT_EQ(time(config, 799, 1), eager_time(799, 4));
  EXPECT_EQ(time(config, 800, 1), eager_time(800, 4) + 1'000'000);
  EXPECT_EQ(time(config, 20'000, 1), acknowledged_time(20'000, 4) + 2'000'000 + 20'000 * 100) << "of the data alone";
  EXPECT_EQ(time(config, 800, 10), time(small_machine(), 800, 10) + 1'000'000) << "all of them at once";
}

}  // namespace
}  // namespace manynode::network::testing
