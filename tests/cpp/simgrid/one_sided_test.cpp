// Remote operations take the times of their two messages, as in the engine fast.
#include <gtest/gtest.h>

#include "machine_for_tests.hpp"

namespace manynode::smpi_engine::testing {
namespace {

constexpr Window kWindow{};
const double kRoundTrip = 2 * path_latency(4);

TEST(OneSided, APutIsAMessageOfAnyLengthAndItsAcknowledgement) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{1'000'000}}) {
    const double makespan = makespan_s(machine(), [=](Mpi& mpi) {
      if (mpi.rank() != 0) return;
      mpi.put(2, bytes, kWindow);
      mpi.win_flush(2, kWindow);
    });
    EXPECT_NEAR(makespan, kOverheadSend + static_cast<double>(bytes) * kPerByte + kRoundTrip, 2 * kNear) << bytes;
  }
}

TEST(OneSided, AGetTakesPlaceWhileItsTargetIsBusy) {
  const auto result = simulate_replica({program([](Mpi& mpi) {
                                         if (mpi.rank() == 2) mpi.pause(1e-3);
                                         if (mpi.rank() != 0) return;
                                         const Request open = mpi.rget(2, 100'000, kWindow);
                                         mpi.wait(open);
                                       })},
                                       machine(), 0);
  const auto& uses = result.jobs[0].ranks[0];
  const auto waited = uses[static_cast<std::size_t>(CallKind::Wait)].time;
  EXPECT_NEAR(network::to_seconds(waited), kRoundTrip + 100'000 * kPerByte + kOverheadReceive, 2 * kNear);
  EXPECT_EQ(uses[static_cast<std::size_t>(CallKind::Get)].bytes, 100'000u);
  EXPECT_EQ(result.jobs[0].messages, 2u);
  EXPECT_EQ(result.jobs[0].bytes, 100'000u);
}

TEST(OneSided, OperationsWithoutEndWaitForOlderOnes) {
  constexpr int kOperations = 2000;
  const double makespan = makespan_s(machine({2}, {1}), [](Mpi& mpi) {
    if (mpi.rank() != 0) return;
    for (int i = 0; i < kOperations; ++i) mpi.put(1, 10'000, kWindow);
    mpi.win_flush(1, kWindow);
  });
  const double bytes_s = kOperations * 10'000 * kPerByte;
  EXPECT_GE(makespan, bytes_s);
  EXPECT_LE(makespan, 1.01 * bytes_s);
}

TEST(OneSided, LongMessagesOfTheSameLengthMeetTheirOwnHandshakes) {
  constexpr std::uint64_t kBytes = 100'000;
  const double makespan = makespan_s(machine({4}, {1}), [=](Mpi& mpi) {
    if (mpi.rank() == 0) {
      const Request sent = mpi.isend(1, kBytes);
      mpi.put(1, kBytes, kWindow);
      mpi.wait(sent);
      mpi.win_flush(1, kWindow);
    }
    if (mpi.rank() == 1) mpi.recv(0, kBytes);
  });
  EXPECT_GE(makespan, 2 * kOverheadSend + 2 * kBytes * kPerByte);
  EXPECT_LE(makespan, 2 * kOverheadSend + 2 * kBytes * kPerByte + 4 * path_latency(2));
}

}  // namespace
}  // namespace manynode::smpi_engine::testing
