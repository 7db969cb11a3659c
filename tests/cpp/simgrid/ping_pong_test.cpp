// One message at a time takes what LogGPS says: processor, latencies, bytes, and the handshake of long messages.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"

namespace manynode::smpi_engine::testing {
namespace {

TEST(Message, TakesLatencyPerLinkAndBytesOverBandwidth) {
  for (const std::uint64_t bytes : {0u, 1u, 8u, 1000u, 16'384u}) {
    EXPECT_NEAR(makespan_s(machine(), one_way(bytes, 1)), eager_time(bytes, 2), kNear) << bytes;
    EXPECT_NEAR(makespan_s(machine(), one_way(bytes, 2)), eager_time(bytes, 4), kNear) << bytes;
    EXPECT_NEAR(makespan_s(machine({2, 2, 2}, {1, 2, 2}), one_way(bytes, 7)), eager_time(bytes, 6), kNear) << bytes;
  }
}

TEST(Message, AboveTheEagerLimitCrossesThreeTimesAndOnceForItsSender) {
  for (const std::uint64_t bytes : {kEagerLimit + 1, std::uint64_t{1'000'000}, std::uint64_t{2'000'000'000}}) {
    EXPECT_NEAR(makespan_s(machine(), one_way(bytes, 2)), acknowledged_time(bytes, 4), kNear + 1e-9 * 0.2) << bytes;
  }
}

TEST(Message, AboveTheEagerLimitWaitsForItsReceiver) {
  // The receive is posted when the request has long come: the answer and the data are left.
  TimingProfile profile;
  profile.classes = {"0"};
  profile.phases = {{PhaseTiming{{Cluster{1e-3, 1, {1e-3, 1e-3}, {0, 1}}}, {}}}};
  auto late = program([](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(2, 100'000);
    if (mpi.rank() == 2) {
      mpi.compute(Phase{0});
      mpi.recv(0, 100'000);
    }
  });
  late.profile = profile;
  const auto result = simulate_replica({late}, machine(), 0);
  const double data_s = 100'000 * kPerByte;
  const auto& receiver = result.jobs[0].ranks[2];
  const auto received_s = network::to_seconds(receiver[static_cast<std::size_t>(CallKind::Recv)].time);
  EXPECT_NEAR(received_s, 2 * path_latency(4) + data_s + kOverheadReceive, kNear);
  // The sender is done when the acknowledgement has come back.
  const auto sender_s = network::to_seconds(result.jobs[0].ranks[0][static_cast<std::size_t>(CallKind::Send)].time);
  EXPECT_NEAR(sender_s, 1e-3 + 3 * path_latency(4) + data_s, kNear);
}

TEST(Message, OfAWaitCostsItsReceiverWhenItComes) {
  // The wait names the later one first; the processor has taken the earlier one when it comes.
  const auto both = [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.waitall(std::vector{mpi.irecv(2, 8), mpi.irecv(1, 8)});
    if (mpi.rank() == 1 || mpi.rank() == 2) mpi.send(0, 8);
  };
  EXPECT_NEAR(makespan_s(machine(), both), eager_time(8, 4), kNear);
}

TEST(Message, OfManyBytesReachesTheLineRate) {
  constexpr std::uint64_t kBytes = 100'000'000;
  const double one_way_s = makespan_s(machine(), one_way(kBytes, 2));
  EXPECT_GT(static_cast<double>(kBytes) / one_way_s, 0.999 * 1e10);
}

TEST(Message, WaitsForANicThatIsSlowerThanTheLinks) {
  auto config = machine();
  config.network.host.nic_bandwidth_Bps = 1e9;
  EXPECT_NEAR(makespan_s(config, one_way(10'000, 2)), eager_time(0, 4) + 10'000 * 1e-9, kNear);
}

TEST(Message, WaitsForTheSlowestClassOfLinks) {
  auto config = machine();
  config.network.link_classes["leaf-up"] = {2e9, 500e-9};
  const double expected_s = eager_time(0, 4) + 500e-9 - kLinkLatency + 10'000 / 2e9;
  EXPECT_NEAR(makespan_s(config, one_way(10'000, 2)), expected_s, kNear);
}

TEST(Message, WithinANodeHasItsOwnPath) {
  const double expected_s = kOverheadSend + kIntranodeLatency + 8000 * kIntranodePerByte + kOverheadReceive;
  EXPECT_NEAR(makespan_s(machine({2, 2}, {1, 2}, 2), one_way(8000, 1)), expected_s, kNear);
}

TEST(Message, CostsItsProcessorsPiecewiseByItsSize) {
  auto config = machine();
  config.network.host.overhead_send = {{0, 1e-6, 0}, {1000, 2e-6, 1e-9}};
  config.network.host.overhead_recv = {{0, 3e-6, 2e-9}};
  const auto on_the_way_s = [](double bytes) { return path_latency(2) + bytes * kPerByte; };
  EXPECT_NEAR(makespan_s(config, one_way(999, 1)), 1e-6 + on_the_way_s(999) + 3e-6 + 999 * 2e-9, kNear);
  EXPECT_NEAR(makespan_s(config, one_way(1000, 1)), 2e-6 + 1e-6 + on_the_way_s(1000) + 3e-6 + 2e-6, kNear);
}

TEST(Message, ComesFromAnySourceOfItsContextOnly) {
  // The barrier's messages reach rank 0 while it waits for rank 2's: they belong to another context.
  const auto body = [](Mpi& mpi) {
    if (mpi.rank() == 2) mpi.send(0, 100, 7);
    if (mpi.rank() == 0) mpi.recv(kAnySource, 100, 7);
    mpi.barrier();
  };
  EXPECT_GT(makespan_s(machine(), body), eager_time(100, 4));
}

TEST(PingPong, TakesTwiceOneWayForEachRound) {
  auto config = machine();
  const Parameters parameters(
      {{"pattern", std::string("ping-pong")}, {"bytes", std::int64_t{800}}, {"iterations", std::int64_t{5}}});
  const std::shared_ptr<const Application> application = make_application("patterns", parameters, 4);
  const auto result = simulate_replica({{application, std::nullopt}}, config, 0);
  EXPECT_NEAR(network::to_seconds(result.makespan), 5 * 2 * eager_time(800, 4), 10 * kNear);
  EXPECT_EQ(result.messages(), 10u);
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
