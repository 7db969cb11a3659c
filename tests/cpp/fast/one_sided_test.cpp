// Remote operations take the times of their two messages, whatever the target does.
#include <gtest/gtest.h>

#include "manynode/skeleton.hpp"
#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

constexpr Window kWindow{};

// Rank 0 locks the window of rank 2, four links away, makes an operation and unlocks; nobody else does anything.
Body locked(void (*operation)(Mpi&)) {
  return [=](Mpi& mpi) {
    if (mpi.rank() != 0) return;
    mpi.win_lock(2, kWindow);
    operation(mpi);
    mpi.win_unlock(2, kWindow);
  };
}

constexpr Picoseconds kRoundTrip = 2 * path_latency(4);
constexpr Picoseconds kLocking = kOverheadSend + kRoundTrip;

TEST(OneSided, AnEmptyLockIsTwoRoundTrips) {
  const auto result = run(small_machine(), locked([](Mpi&) {}));
  EXPECT_EQ(result.makespan, 2 * kLocking);
  EXPECT_EQ(result.jobs[0].messages, 4u);
  EXPECT_EQ(result.jobs[0].bytes, 0u);
}

TEST(OneSided, APutIsAMessageOfAnyLengthAndItsAcknowledgement) {
  const auto result = run(small_machine(), locked([](Mpi& mpi) { mpi.put(2, 100'000, kWindow); }));
  EXPECT_EQ(result.makespan, 2 * kLocking + kOverheadSend + bytes_time(100'000) + kRoundTrip);
  EXPECT_EQ(result.jobs[0].bytes, 100'000u);
  const auto& uses = result.jobs[0].ranks[0];
  EXPECT_EQ(uses[static_cast<std::size_t>(CallKind::Put)].time, kOverheadSend);
  EXPECT_EQ(uses[static_cast<std::size_t>(CallKind::Put)].bytes, 100'000u);
  EXPECT_EQ(uses[static_cast<std::size_t>(CallKind::WinLock)].time, kLocking);
}

TEST(OneSided, AGetIsARequestAndItsBytes) {
  const auto result = run(small_machine(), locked([](Mpi& mpi) { mpi.get(2, 100'000, kWindow); }));
  EXPECT_EQ(result.makespan, 2 * kLocking + kOverheadSend + kRoundTrip + bytes_time(100'000) + kOverheadReceive);
}

TEST(OneSided, GetAccumulateHasItsBytesBothWays) {
  const auto result = run(small_machine(), locked([](Mpi& mpi) { mpi.get_accumulate(2, 1000, kWindow); }));
  EXPECT_EQ(result.makespan, 2 * kLocking + kOverheadSend + kRoundTrip + 2 * bytes_time(1000) + kOverheadReceive);
  EXPECT_EQ(result.jobs[0].bytes, 2000u);
}

TEST(OneSided, OperationsOverlapUntilTheFlush) {
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() != 0) return;
    for (int i = 0; i < 10; ++i) mpi.put(2, 10'000, kWindow);
    mpi.win_flush(2, kWindow);
  });
  EXPECT_EQ(result.makespan, kOverheadSend + 10 * bytes_time(10'000) + kRoundTrip);
}

TEST(OneSided, AFlushWaitsForItsTargetAndItsWindowAlone) {
  const auto program = [](Mpi& mpi) {
    if (mpi.rank() != 0) return;
    mpi.put(2, 100'000, kWindow);
    mpi.get(1, 8, Window{kWorld, 1});
    mpi.win_flush(1, Window{kWorld, 1});
    mpi.win_flush(1, kWindow);
    mpi.win_flush(kNoPeer, kWindow);
  };
  const auto result = run(small_machine(), program);
  EXPECT_EQ(result.makespan, kOverheadSend + bytes_time(100'000) + kRoundTrip);
}

TEST(OneSided, AWaitCompletesAnOperationWithARequest) {
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() != 0) return;
    const std::array open = {mpi.rget(2, 1000, kWindow), mpi.rput(0, 1000, kWindow), mpi.rput(kProcNull, 8, kWindow)};
    mpi.waitall(open);
  });
  EXPECT_EQ(result.makespan, kOverheadSend + kRoundTrip + bytes_time(1000) + kOverheadReceive);
  EXPECT_EQ(result.jobs[0].messages, 2u) << "none for the rank itself and for nobody";
  EXPECT_EQ(result.jobs[0].ranks[0][static_cast<std::size_t>(CallKind::Put)].calls, 2u);
}

TEST(OneSided, AFenceIsOverWhenAllPutsHaveCome) {
  const auto result = run(small_machine({2}, {1}, {1}), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.put(1, 1'000'000, kWindow);
    mpi.win_fence(kWindow);
  });
  // The put and its acknowledgement, then the messages of the barrier.
  const Picoseconds put = kOverheadSend + bytes_time(1'000'000) + 2 * path_latency(2);
  EXPECT_EQ(result.makespan, put + eager_time(0, 2));
  EXPECT_EQ(finish_time(result, 1), result.makespan);
}

TEST(OneSided, TargetsLearnOfCompleteOperationsByAMessage) {
  const auto result = run(small_machine({2}, {1}, {1}), [](Mpi& mpi) {
    const std::array other = {1 - mpi.rank()};
    if (mpi.rank() == 0) {
      mpi.win_start(other, kWindow);
      mpi.put(1, 10'000, kWindow);
      mpi.win_complete(other, kWindow);
    } else {
      mpi.win_post(other, kWindow);
      mpi.win_wait(other, kWindow);
    }
  });
  const Picoseconds put = kOverheadSend + bytes_time(10'000) + 2 * path_latency(2);
  EXPECT_EQ(finish_time(result, 1), eager_time(0, 2) + put + eager_time(0, 2));
  EXPECT_EQ(result.jobs[0].messages, 4u);
}

TEST(OneSided, OperationsMayStayOpenFromStepToStep) {
  const auto result = run(
      small_machine(),
      [](Mpi& mpi) {
        if (mpi.rank() != 0) return;
        mpi.win_flush(kNoPeer, kWindow);
        mpi.put(2, 10'000, kWindow);
      },
      3);
  // The last one is nobody's business.
  EXPECT_EQ(result.makespan, 3 * kOverheadSend + 2 * (bytes_time(10'000) + kRoundTrip));
}

TEST(OneSided, TheTargetTakesNoPartWhateverReceivesItsMessages) {
  auto config = small_machine();
  const auto program = [](Mpi& mpi) {
    if (mpi.rank() == 2) mpi.pause(1e-3);
    if (mpi.rank() != 0) return;
    mpi.get(2, 100'000, kWindow);
    mpi.put(2, 1000, kWindow);
    mpi.win_flush(2, kWindow);
  };
  const Picoseconds expected = kOverheadSend + kRoundTrip + bytes_time(100'000) + kOverheadReceive;
  EXPECT_EQ(finish_time(run(config, program), 0), expected);
  config.network.host.receive = Receive::OnArrival;
  EXPECT_EQ(finish_time(run(config, program), 0), expected - kOverheadReceive) << "the NIC receives the bytes of a get";
}

TEST(OneSided, WorksWithinANode) {
  auto config = small_machine();
  config.jobs[0].ranks_per_node = 2;
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() != 0) return;
    mpi.put(1, 1000, kWindow);
    mpi.win_flush(1, kWindow);
  });
  EXPECT_EQ(result.makespan, kOverheadSend + 2 * kIntranodeLatency + 1000 * kIntranodePerByte);
}

}  // namespace
}  // namespace manynode::network::testing
