// What is shared takes turns: NICs, links, tapered levels.
#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(Sharing, TwoRanksOfANodeShareItsNic) {
  auto config = small_machine();
  config.jobs[0].ranks_per_node = 2;
  constexpr std::uint64_t kBytes = 16'384;
  const auto result = run(config, [](Mpi& mpi) {
    // Ranks 0 and 1 are node 0; ranks 2 (node 1) and 4 (node 2) receive.
    if (mpi.rank() < 2) mpi.send(2 + 2 * mpi.rank(), kBytes);
    if (mpi.rank() == 2) mpi.recv(0, kBytes);
    if (mpi.rank() == 4) mpi.recv(1, kBytes);
  });
  // Chunks take turns; the message of rank 1 has the last turn and the longer way.
  EXPECT_EQ(result.makespan, eager_time(kBytes, 4) + bytes_time(kBytes));
  // The other one ends one chunk before.
  const auto& other = result.jobs[0].ranks[2][static_cast<std::size_t>(CallKind::Recv)];
  EXPECT_EQ(other.time, eager_time(kBytes, 2) + bytes_time(kBytes) - bytes_time(2048));
}

TEST(Sharing, IncastTakesTheTimeOfAllBytes) {
  constexpr int kSenders = 7;
  constexpr std::uint64_t kBytes = 16'000;
  const auto config = small_machine({8}, {1}, {1});
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, kBytes);
    for (int sender = 1; mpi.rank() == 0 && sender <= kSenders; ++sender) mpi.recv(sender, kBytes);
  });
  // The link into host 0 is never idle. The bytes of all messages come chunk by chunk, so the first message is complete
  // only when nearly all bytes have come, and the receiver's overheads then follow the last arrival of each: the last
  // chunks (1,664 bytes each) are closer to each other than one overhead.
  const Picoseconds last_chunk = bytes_time(16'000 - 7 * 2048);
  const Picoseconds all = kOverheadSend + path_latency(2) + kSenders * bytes_time(kBytes);
  EXPECT_EQ(result.makespan, all - (kSenders - 1) * last_chunk + kSenders * kOverheadReceive);
  const auto route_end = [&] {
    const std::uint32_t hops = config.network.topology->hops(1, 0);
    return config.network.topology->link_at(1, 0, hops - 1, hops);
  }();
  EXPECT_EQ(result.links[route_end].bytes, kSenders * kBytes);
  EXPECT_EQ(result.links[route_end].busy, kSenders * bytes_time(kBytes));
  EXPECT_GT(result.links[route_end].stall, 0);
}

// Every host sends to the host half the machine away, both halves at once: all traffic crosses the bisection.
Body exchange_halves(std::uint64_t bytes) {
  return [=](Mpi& mpi) {
    const int peer = (mpi.rank() + mpi.size() / 2) % mpi.size();
    mpi.sendrecv(peer, bytes, 0, peer, bytes, 0);
  };
}

TEST(Sharing, FullFatTreeCarriesABisectionAtLineRate) {
  EXPECT_EQ(run(small_machine({4, 4}, {1, 4}, {1, 1}), exchange_halves(16'384)).makespan, eager_time(16'384, 4));
}

TEST(Sharing, ThreeLevelFatTreeWithParallelLinksCarriesABisectionAtLineRate) {
  const auto config = small_machine({4, 4, 2}, {1, 4, 2}, {1, 1, 2});
  EXPECT_EQ(run(config, exchange_halves(16'384)).makespan, eager_time(16'384, 6));
}

TEST(Sharing, TaperOfTwoHalvesTheBisection) {
  const auto config = small_machine({4, 4}, {1, 2}, {1, 1});
  EXPECT_EQ(run(config, exchange_halves(16'384)).makespan, eager_time(16'384, 4) + bytes_time(16'384));
}

TEST(Sharing, TheGapKeepsMessagesOfANicApart) {
  auto config = small_machine();
  config.network.host.gap_s = 1e-6;
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() == 0) {
      mpi.send(1, 8);
      mpi.send(2, 8);
    }
    if (mpi.rank() == 1 || mpi.rank() == 2) mpi.recv(0, 8);
  });
  EXPECT_EQ(result.makespan, 1'000'000 + eager_time(8, 4));
}

// A message that waits for the gap keeps the NIC from no chunk of another one until then.
TEST(Sharing, TheGapLeavesTheNicToTheChunksOfTheMessageBefore) {
  auto config = small_machine();
  config.jobs[0].ranks_per_node = 2;
  config.network.host.gap_s = 1.3e-6;
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, mpi.rank() == 0 ? 16'384 : 8);
    if (mpi.rank() >= 2 && mpi.rank() < 4) mpi.recv(mpi.rank() - 2, mpi.rank() == 2 ? 16'384 : 8);
  });
  const auto received = [&](std::size_t rank) {
    return result.jobs[0].ranks[rank][static_cast<std::size_t>(CallKind::Recv)].time;
  };
  // Seven of eight chunks begin within 1.3 microseconds, then comes the short message, then the last chunk.
  EXPECT_EQ(received(2), eager_time(16'384, 2) + bytes_time(8));
  EXPECT_EQ(received(3), eager_time(8, 2) + 7 * bytes_time(2048));
}

TEST(Sharing, MessagesWithinANodeDoNotDisturbEachOther) {
  auto config = small_machine();
  config.jobs[0].ranks_per_node = 4;
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() == 0 || mpi.rank() == 1) mpi.send(mpi.rank() + 2, 8000);
    if (mpi.rank() == 2 || mpi.rank() == 3) mpi.recv(mpi.rank() - 2, 8000);
  });
  EXPECT_EQ(result.makespan, kOverheadSend + kIntranodeLatency + 8000 * kIntranodePerByte + kOverheadReceive);
}

}  // namespace
}  // namespace manynode::network::testing
