// Half a round trip and the bandwidth curve, over one switch and over many.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace manynode::network::testing {
namespace {

Picoseconds half_round_trip(const RunConfig& config, std::uint64_t bytes, int peer) {
  const auto result = run_pattern(config, {{"pattern", std::string("ping-pong")},
                                           {"bytes", static_cast<std::int64_t>(bytes)},
                                           {"iterations", std::int64_t{3}},
                                           {"b", std::int64_t{peer}}});
  // Of the rank that begins, and that receives last.
  return finish_time(result, 0) / 6;
}

TEST(PingPongPhysics, HalfARoundTripIsTheSumOfLatenciesOverAnyNumberOfHops) {
  // A line of switches with a host each: host h is h + 2 links from host 0.
  const auto config = machine(R"({"kind":"torus","shape":[24],"hosts_per_switch":1,"links_per_direction":1})");
  for (int peer = 1; peer <= 12; ++peer) {
    for (const std::uint64_t bytes : {0ull, 8ull, 2048ull, 16'000ull}) {
      EXPECT_EQ(half_round_trip(config, bytes, peer), eager_time(bytes, peer + 2)) << peer << " switches, " << bytes;
    }
    EXPECT_EQ(half_round_trip(config, 1 << 20, peer), rendezvous_time(1 << 20, peer + 2)) << peer;
  }
}

TEST(PingPongPhysics, HalfARoundTripIsTheSumOfLatenciesOnRowsGroupsAndHyperX) {
  const std::map<const char*, std::vector<std::pair<int, int>>> links{
      {kMesh, {{1, 2}, {2, 3}, {10, 7}, {12, 3}, {23, 8}}},    // five links along the row, one across
      {kHyperX, {{1, 2}, {4, 3}, {12, 3}, {16, 4}, {47, 4}}},  // one per coordinate that differs
      {kPlus, {{1, 2}, {2, 4}, {5, 4}, {6, 5}, {23, 5}}},      // over a spine; over a global cable
      {kGrid, {{1, 2}, {2, 3}, {6, 3}, {8, 4}}},               // row, column, both
  };
  for (const auto& [topology, peers] : links) {
    const auto config = machine(topology);
    for (const auto& [peer, count] : peers) {
      EXPECT_EQ(half_round_trip(config, 800, peer), eager_time(800, count)) << topology << " " << peer;
      EXPECT_EQ(half_round_trip(config, 1 << 20, peer), rendezvous_time(1 << 20, count)) << topology << " " << peer;
    }
  }
}

TEST(PingPongPhysics, BandwidthApproachesTheLineRate) {
  const auto config = machine(kPaperFatTree);
  double last = 0;
  for (std::uint64_t bytes = 1024; bytes <= 64u << 20; bytes *= 4) {
    const Picoseconds time = half_round_trip(config, bytes, 2303);
    EXPECT_EQ(time, bytes <= kEagerLimit ? eager_time(bytes, 6) : rendezvous_time(bytes, 6));
    const double share = static_cast<double>(bytes_time(bytes)) / static_cast<double>(time);
    EXPECT_GT(share, last) << bytes;
    last = share;
  }
  EXPECT_GT(last, 0.999);
}

TEST(PingPongPhysics, TheSlowestLinkOfTheRouteIsTheLineRate) {
  auto config = machine(kPaperFatTree);
  for (const char* name : {"host-up", "leaf-up", "level2-down", "host-down"}) {
    config.network.link_classes = {{name, {2e9, 90e-9}}};
    const double seconds = to_seconds(half_round_trip(config, 64u << 20, 2303));
    const double rate = static_cast<double>(64u << 20) / seconds;
    EXPECT_GT(rate, 0.97 * 2e9) << name;
    EXPECT_LT(rate, 2e9) << name;
  }
}

}  // namespace
}  // namespace manynode::network::testing
