// Times of single messages against closed formulas, each a sum of named latencies. Exact to the picosecond.
#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(Timing, EagerMessageOverTwoLinks) {
  EXPECT_EQ(run(small_machine(), one_way(800, 1)).makespan, eager_time(800, 2));
}

TEST(Timing, EagerMessageOverFourLinks) {
  EXPECT_EQ(run(small_machine(), one_way(800, 2)).makespan, eager_time(800, 4));
}

TEST(Timing, EagerMessageOverTenLinks) {
  const auto config = small_machine({2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1});
  EXPECT_EQ(run(config, one_way(800, 31)).makespan, eager_time(800, 10));
}

TEST(Timing, EmptyMessageTakesTheLatencies) {
  EXPECT_EQ(run(small_machine(), one_way(0, 1)).makespan, eager_time(0, 2));
}

TEST(Timing, PingPongIsTwiceOneWay) {
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) {
      mpi.send(2, 800);
      mpi.recv(2, 800);
    } else if (mpi.rank() == 2) {
      mpi.recv(0, 800);
      mpi.send(0, 800);
    }
  });
  EXPECT_EQ(result.makespan, 2 * eager_time(800, 4));
}

TEST(Timing, EagerSwitchesToRendezvousAboveTheLimit) {
  EXPECT_EQ(run(small_machine(), one_way(kEagerLimit, 2)).makespan, eager_time(kEagerLimit, 4));
  EXPECT_EQ(run(small_machine(), one_way(kEagerLimit + 1, 2)).makespan, acknowledged_time(kEagerLimit + 1, 4));
}

TEST(Timing, ChunksOfALongMessageFollowEachOtherWithoutAGap) {
  // 100 chunks of 2048 bytes would be too many: 64 chunks of 3200 bytes. The path is paid once, whatever its length.
  EXPECT_EQ(finish_time(run(small_machine(), one_way(204'800, 2)), 2), rendezvous_time(204'800, 4));
}

TEST(Timing, LongMessageReachesTheLineRate) {
  const auto config = small_machine({2, 2, 2}, {1, 2, 2}, {1, 1, 1});
  constexpr std::uint64_t kBytes = 4 << 20;
  const auto received = finish_time(run(config, one_way(kBytes, 7)), 7);
  EXPECT_EQ(received, rendezvous_time(kBytes, 6));
  EXPECT_GT(static_cast<double>(bytes_time(kBytes)) / static_cast<double>(received), 0.99);
}

TEST(Timing, LongMessageReachesTheRateOfASlowNic) {
  auto config = small_machine();
  config.network.host.nic_bandwidth_Bps = 2.5e9;
  constexpr std::uint64_t kBytes = 16 << 20;
  const double line = static_cast<double>(4 * bytes_time(kBytes));
  EXPECT_GT(line / static_cast<double>(run(config, one_way(kBytes, 2)).makespan), 0.98);
}

TEST(Timing, TheSlowerOfNicAndLinkSetsTheRate) {
  // A link that a slower NIC feeds begins a chunk so late that it never waits for its tail: one chunk pays the
  // difference of the two rates once more.
  auto slow_nic = small_machine();
  slow_nic.network.host.nic_bandwidth_Bps = 5e9;
  EXPECT_EQ(run(slow_nic, one_way(8192, 2)).makespan, eager_time(8192, 4) + bytes_time(8192) + bytes_time(2048));
  auto slow_link = small_machine();
  slow_link.network.link.bandwidth_Bps = 5e9;
  EXPECT_EQ(run(slow_link, one_way(8192, 2)).makespan, eager_time(8192, 4) + bytes_time(8192));
}

TEST(Timing, OverheadPerByteIsPaidByBothProcessors) {
  auto config = small_machine();
  config.network.host.overhead_send[0].seconds_per_byte = 1e-11;  // 10 ps
  config.network.host.overhead_recv[0].seconds_per_byte = 1e-11;
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 2) + 2 * 800 * 10);
}

TEST(Timing, MessageWithinANodeTakesNoNic) {
  auto config = small_machine();
  config.jobs[0].ranks_per_node = 2;
  const auto result = run(config, one_way(800, 1));
  EXPECT_EQ(result.makespan, kOverheadSend + kIntranodeLatency + 800 * kIntranodePerByte + kOverheadReceive);
  for (const auto& link : result.links) EXPECT_EQ(link.bytes, 0u);
}

TEST(Timing, RendezvousWithinANodeCrossesThreeTimesAndOnceForItsSender) {
  auto config = small_machine();
  config.jobs[0].ranks_per_node = 2;
  constexpr std::uint64_t kBytes = 100'000;
  const auto result = run(config, one_way(kBytes, 1));
  const Picoseconds arrived = kOverheadSend + 3 * kIntranodeLatency + kBytes * kIntranodePerByte;
  EXPECT_EQ(finish_time(result, 1), arrived + kOverheadReceive);
  EXPECT_EQ(finish_time(result, 0), arrived + kIntranodeLatency);
}

TEST(Timing, RendezvousStartsWhenTheReceiveIsPosted) {
  // Rank 1 hears from rank 0 first, then posts the receive for rank 2, whose request has been there for long.
  constexpr std::uint64_t kBytes = 20'000;
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, kEagerLimit);
    if (mpi.rank() == 2) mpi.send(1, kBytes);
    if (mpi.rank() == 1) {
      mpi.recv(0, kEagerLimit);
      mpi.recv(2, kBytes);
    }
  });
  const Picoseconds posted = eager_time(kEagerLimit, 2);
  EXPECT_EQ(finish_time(result, 1), posted + 2 * path_latency(4) + bytes_time(kBytes) + kOverheadReceive);
  EXPECT_EQ(finish_time(result, 2), posted + 3 * path_latency(4) + bytes_time(kBytes));
}

TEST(Timing, TheSenderOfARendezvousMessageIsDoneWhenItIsAcknowledged) {
  constexpr std::uint64_t kBytes = 32'768;
  const auto result = run(small_machine(), one_way(kBytes, 1));
  const auto& send = result.jobs[0].ranks[0][static_cast<std::size_t>(CallKind::Send)];
  EXPECT_EQ(send.time, acknowledged_time(kBytes, 2));
  EXPECT_EQ(send.calls, 1u);
  EXPECT_EQ(send.bytes, kBytes);
}

TEST(Timing, WaitingIsChargedToTheCallThatWaits) {
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, 800);
    if (mpi.rank() == 1) {
      const auto request = mpi.irecv(0, 800);
      mpi.wait(request);
    }
  });
  EXPECT_EQ(result.jobs[0].ranks[1][static_cast<std::size_t>(CallKind::Irecv)].time, 0);
  EXPECT_EQ(result.jobs[0].ranks[1][static_cast<std::size_t>(CallKind::Wait)].time, eager_time(800, 2));
}

TEST(Timing, ComputeTimesComeFromTheProfile) {
  // Rank 1 computes 3 us and then receives what has long been there.
  TimingProfile profile;
  profile.classes = {"idle", "busy"};
  const Cluster nothing{.mean_s = 0, .weight = 1, .time_s = {0, 0}, .probability = {0, 1}};
  const Cluster busy{.mean_s = 3e-6, .weight = 1, .time_s = {3e-6, 3e-6}, .probability = {0, 1}};
  profile.phases = {{PhaseTiming{{nothing}, {}}}, {PhaseTiming{{busy}, {}}}};
  auto config = small_machine();
  config.jobs[0].constant = true;
  config.jobs[0].class_of_rank = {"idle", "busy", "idle", "idle"};
  auto program = loaded([](Mpi& mpi) {
    mpi.compute(Phase{0});
    if (mpi.rank() == 0) mpi.send(1, 800);
    if (mpi.rank() == 1) mpi.recv(0, 800);
  });
  program.profile = profile;
  const auto result = simulate({program}, config, 0);
  EXPECT_EQ(result.makespan, 3'000'000 + kOverheadReceive);
  EXPECT_EQ(result.jobs[0].ranks[1][0].time, 3'000'000);
}

TEST(Timing, APauseTakesItsTimeWithoutAProfileAndIsChargedToComputing) {
  for (const bool on_arrival : {false, true}) {
    auto config = small_machine();
    if (on_arrival) config.network.host.receive = Receive::OnArrival;
    const auto result = run(config, [](Mpi& mpi) {
      if (mpi.rank() == 1) mpi.pause(1.5e-6);
    });
    EXPECT_EQ(result.makespan, 1'500'000);
    EXPECT_EQ(result.jobs[0].ranks[1][static_cast<std::size_t>(CallKind::Compute)].time, 1'500'000);
    EXPECT_EQ(finish_time(result, 0), 0);
  }
}

TEST(Timing, StepsEndWhenTheSlowestRankHasFinishedThem) {
  const auto result = run(small_machine(), one_way(800, 1), 3);
  // The sender is ahead; the receiver's overhead is shorter than the sender's, so steps are one send apart.
  ASSERT_EQ(result.jobs[0].iteration_end.size(), 3u);
  EXPECT_EQ(result.jobs[0].iteration_end[0], eager_time(800, 2));
  EXPECT_EQ(result.jobs[0].iteration_end[1], eager_time(800, 2) + kOverheadSend);
  EXPECT_EQ(result.jobs[0].iteration_end[2], eager_time(800, 2) + 2 * kOverheadSend);
}

TEST(Timing, IterationsLimitStopsEarly) {
  auto config = small_machine();
  config.jobs[0].iterations_limit = 2;
  EXPECT_EQ(run(config, one_way(800, 1), 3).jobs[0].iteration_end.size(), 2u);
}

TEST(Timing, MessagesOfAWaitCostTheirReceiverAsTheyCome) {
  // The wait names the later one first; the processor has taken the earlier one when it comes.
  static_assert(path_latency(4) - path_latency(2) > kOverheadReceive);
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.waitall(std::vector{mpi.irecv(2, 8), mpi.irecv(1, 8)});
    if (mpi.rank() == 1 || mpi.rank() == 2) mpi.send(0, 8);
  });
  // The link into host 0 is free again when the second message comes.
  EXPECT_EQ(finish_time(result, 0), eager_time(8, 4));
}

}  // namespace
}  // namespace manynode::network::testing
