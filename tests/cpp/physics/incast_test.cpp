// k senders to one receiver: its host link is the bottleneck, and gets all the stall.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace manynode::network::testing::incast_test {
namespace {

constexpr std::uint64_t kBytes = 16'384;

TEST(IncastPhysics, TakesTheTimeOfAllBytesOnTheLastLink) {
  for (const int senders : {1, 2, 7, 31}) {
    const auto config = small_machine({32}, {1}, {1});
    const auto result = run_pattern(config, {{"pattern", std::string("incast")},
                                             {"bytes", static_cast<std::int64_t>(kBytes)},
                                             {"senders", std::int64_t{senders}},
                                             {"iterations", std::int64_t{1}}});
    const Picoseconds first = eager_time(kBytes, 2);
    // The last message comes when the link has sent all; the receiver has taken the others by then, or takes them while
    // the last one arrives.
    EXPECT_GE(result.makespan, first + (senders - 1) * bytes_time(kBytes)) << senders;
    EXPECT_LE(result.makespan, first + (senders - 1) * (bytes_time(kBytes) + kOverheadReceive)) << senders;
    const std::uint32_t hops = config.network.topology->hops(1, 0);
    const LinkId last = config.network.topology->link_at(1, 0, hops - 1, hops);
    EXPECT_EQ(result.links[last].busy, senders * bytes_time(kBytes));
    for (LinkId link = 0; link < result.links.size(); ++link) {
      if (link == last) continue;
      EXPECT_EQ(result.links[link].stall, 0) << senders;
    }
    // Chunks take turns, so each of the 8 chunks of a message waits for one chunk of each other sender, and the further
    // back the longer: the senders inject at the line rate what the link drains k times slower.
    const Picoseconds chunk = bytes_time(2048);
    Picoseconds stall = 0;
    for (int turn = 0; turn < 8; ++turn) {
      for (int sender = 0; sender < senders; ++sender) stall += (turn * (senders - 1) + sender) * chunk;
    }
    EXPECT_EQ(result.links[last].stall, stall) << senders;
  }
}

}  // namespace
}  // namespace manynode::network::testing::incast_test
