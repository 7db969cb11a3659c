// What of the network is chosen in the run file: classes of links, rails, contention, routes per chunk, time series.
#include <numeric>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(Network, ClassesOfLinksHaveTheirOwnLatencyAndBandwidth) {
  auto config = small_machine();
  config.network.link_classes["leaf-up"] = {1e10, 190e-9};
  EXPECT_EQ(run(config, one_way(800, 2)).makespan, eager_time(800, 4) + 100'000);
  EXPECT_EQ(run(config, one_way(800, 1)).makespan, eager_time(800, 2));
  // The slowest link decides: the tail leaves it last, and crosses the two links behind it at once.
  config.network.link_classes["leaf-up"] = {2.5e9, 90e-9};
  config.network.chunk_bytes = 100;
  const auto slow = run(config, one_way(12'800, 2)).makespan;
  EXPECT_NEAR(static_cast<double>(slow), static_cast<double>(eager_time(12'800, 4) + 3 * bytes_time(12'800)),
              static_cast<double>(bytes_time(800)));
}

TEST(Network, ALongMessageHasAsManyChunksAsTheRunFileAllows) {
  for (const FlowControl flow_control : {FlowControl::None, FlowControl::Credits}) {
    for (const std::uint32_t most : {1u, 16u, 64u, 127u, 128u}) {
      auto config = small_machine();
      config.network.flow_control = flow_control;
      config.network.chunk_bytes = 100;
      config.network.input_buffer_bytes = config.network.output_buffer_bytes = 1 << 20;
      config.network.most_chunks = most;
      const auto result = run(config, one_way(16'000, 2));
      std::uint64_t crossed = 0;
      for (const auto& link : result.links) {
        if (link.chunks == 0) continue;
        ++crossed;
        EXPECT_EQ(link.bytes, 16'000u);
        EXPECT_LE(link.chunks, most);
        EXPECT_GT(link.chunks, most * 9 / 10) << "longer chunks are rounded up";
      }
      EXPECT_EQ(crossed, 4u);
      EXPECT_EQ(result.makespan, eager_time(16'000, 4));
    }
  }
}

TEST(Network, WithoutContentionLinksNeverWait) {
  auto config = small_machine({2, 2}, {1, 1}, {1, 1});
  config.network.contention = false;
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, 8000);
    if (mpi.rank() >= 2) mpi.recv(mpi.rank() - 2, 8000);
  });
  EXPECT_EQ(result.makespan, eager_time(8000, 4));
  for (const auto& link : result.links) EXPECT_EQ(link.stall, 0);
}

TEST(Network, OverheadFollowsTheSegmentOfTheSize) {
  auto config = small_machine();
  config.network.host.overhead_send = {{0, 300e-9, 0}, {1000, 100e-9, 1e-9}};
  EXPECT_EQ(run(config, one_way(999, 1)).makespan, eager_time(999, 2));
  EXPECT_EQ(run(config, one_way(1000, 1)).makespan, eager_time(1000, 2) - kOverheadSend + 100'000 + 1'000'000);
}

// Two nodes of two NICs under one switch.
RunConfig two_rails(RailChoice choice) {
  auto config = small_machine({4}, {1}, {1});
  config.network.host.rails = 2;
  config.network.host.rail_choice = choice;
  config.jobs[0].nodes = 2;
  config.jobs[0].ranks_per_node = 2;
  return config;
}

TEST(Rails, RanksOfANodeHaveANicEach) {
  const auto result = run(two_rails(RailChoice::ByRank), [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, 8000);
    if (mpi.rank() >= 2) mpi.recv(mpi.rank() - 2, 8000);
  });
  EXPECT_EQ(result.makespan, eager_time(8000, 2));
}

TEST(Rails, StripesALongMessageOverAllNics) {
  constexpr std::uint64_t kBytes = 1 << 20;
  auto config = two_rails(RailChoice::Striped);
  EXPECT_EQ(run(config, one_way(kBytes, 2)).makespan, acknowledged_time(kBytes / 2, 2));
  config.network.host.rail_choice = RailChoice::ByRank;
  EXPECT_EQ(run(config, one_way(kBytes, 2)).makespan, acknowledged_time(kBytes, 2));
}

// A message of many chunks goes over several roots at once, and a short one sent after it may come before it.
TEST(Adaptive, MessagesAreMatchedInTheOrderOfSending) {
  auto config = small_machine({4, 4}, {1, 4}, {1, 1});
  config.network.topology = make_topology(nlohmann::json{{"kind", "fat-tree"},
                                                         {"children", {4, 4}},
                                                         {"parents", {1, 4}},
                                                         {"parallel_links", {1, 1}},
                                                         {"routing", "adaptive"}},
                                          "topology");
  config.network.host.eager_limit_bytes = 1 << 20;
  const auto program = [](Mpi& mpi) {
    const int half = mpi.size() / 2;
    const std::uint64_t sizes[] = {200'000, 8, 5000, 8, 64'000, 8, 8, 2048};
    // The sizes differ, and a receive that meets a longer message is an error: order is checked by the engine.
    for (int round = 0; round < 5; ++round) {
      for (const std::uint64_t bytes : sizes) {
        if (mpi.rank() < half) mpi.send(mpi.rank() + half, bytes);
        if (mpi.rank() >= half) mpi.recv(mpi.rank() - half, bytes);
      }
    }
  };
  const auto result = run(config, program);
  EXPECT_EQ(result.messages(), 8u * 40);
  // Hosts 0 ... 7 send: all up-links of their two leaves carry chunks.
  const auto classes = config.network.topology->link_classes();
  int used = 0;
  for (const auto& link : result.links) used += classes[link.link_class] == "leaf-up" && link.chunks > 0 ? 1 : 0;
  EXPECT_EQ(used, 8);
  EXPECT_EQ(run(config, program).makespan, result.makespan);
}

TEST(Series, AddsUpToTheCountersOfTheLinks) {
  auto config = small_machine({2, 2}, {1, 1}, {1, 1});
  const auto program = [](Mpi& mpi) {
    for (int i = 0; i < 20; ++i) {
      if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, 30'000);
      if (mpi.rank() >= 2) mpi.recv(mpi.rank() - 2, 30'000);
    }
  };
  for (const bool per_link : {false, true}) {
    config.counters = CountersConfig{5e-6, per_link};
    const auto result = run(config, program);
    ASSERT_GT(result.series.size(), 8u);
    std::uint64_t bytes = 0;
    Picoseconds busy = 0;
    Picoseconds stall = 0;
    bool queued = false;
    for (const auto& row : result.series) {
      bytes += row.bytes;
      busy += row.busy;
      stall += row.stall;
      queued |= row.queue_bytes > 2048;
      EXPECT_GE(row.busy, 0);
      EXPECT_LE(row.end - row.start, 5'000'000);
      if (per_link) {
        EXPECT_LE(row.busy, row.end - row.start);
      }
    }
    const auto sum = [&](const auto& member) {
      return std::accumulate(
          result.links.begin(), result.links.end(), std::int64_t{0},
          [&](std::int64_t all, const LinkUse& link) { return all + static_cast<std::int64_t>(link.*member); });
    };
    EXPECT_EQ(static_cast<std::int64_t>(bytes), sum(&LinkUse::bytes));
    EXPECT_EQ(busy, sum(&LinkUse::busy));
    EXPECT_EQ(stall, sum(&LinkUse::stall));
    EXPECT_TRUE(queued);
  }
}

}  // namespace
}  // namespace manynode::network::testing
