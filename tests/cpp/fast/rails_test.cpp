// Which of a node's NICs a message takes: by message, by direction.
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

constexpr std::uint64_t kRailBytes = 8000;
constexpr Picoseconds kTransfer = bytes_time(kRailBytes);

// A ring of four switches, each with the two NICs of one node.
RunConfig ring(RailChoice choice) {
  auto config = small_machine();
  config.network.topology = make_topology(
      nlohmann::json{{"kind", "torus"}, {"shape", {4}}, {"hosts_per_switch", 2}, {"links_per_direction", 1}},
      "topology");
  config.network.host.rails = 2;
  config.network.host.rail_choice = choice;
  config.jobs[0].nodes = 4;
  return config;
}

// Node 0 sends a message to each of two nodes, one after the other.
Picoseconds two_messages(RailChoice choice, int first, int second) {
  return run(ring(choice),
             [=](Mpi& mpi) {
               if (mpi.rank() == 0) {
                 mpi.send(first, kRailBytes, 0);
                 mpi.send(second, kRailBytes, 1);
               }
               if (mpi.rank() == first) mpi.recv(0, kRailBytes, 0);
               if (mpi.rank() == second) mpi.recv(0, kRailBytes, 1);
             })
      .makespan;
}

// The second message waits for the first in their common NIC, or only for the processor.
constexpr Picoseconds kSameNic = kTransfer + eager_time(kRailBytes, 3);
constexpr Picoseconds kOwnNic = kOverheadSend + eager_time(kRailBytes, 3);

TEST(RailChoice, ByRankAllMessagesOfARankTakeOneNic) {
  EXPECT_EQ(two_messages(RailChoice::ByRank, 1, 3), kSameNic);
  EXPECT_EQ(two_messages(RailChoice::ByRank, 1, 1), kSameNic);
}

TEST(RailChoice, ByMessageTheNicsTakeTurns) {
  EXPECT_EQ(two_messages(RailChoice::ByMessage, 1, 3), kOwnNic);
  // The link between the switches still carries both.
  EXPECT_EQ(two_messages(RailChoice::ByMessage, 1, 1), kSameNic);
}

TEST(RailChoice, ByDirectionTheWayRoundTheRingChoosesTheNic) {
  EXPECT_EQ(two_messages(RailChoice::ByDirection, 1, 3), kOwnNic);
  EXPECT_EQ(two_messages(RailChoice::ByDirection, 1, 1), kSameNic);
  EXPECT_EQ(two_messages(RailChoice::ByDirection, 3, 3), kSameNic);
}

TEST(RailChoice, ByDirectionMessagesHalfARingAwayGoBothWays) {
  const auto result = run(ring(RailChoice::ByDirection), [](Mpi& mpi) {
    const int to = (mpi.rank() + 2) % 4;
    const auto received = mpi.irecv(to, kRailBytes);
    const auto sent = mpi.isend(to, kRailBytes);
    mpi.wait(received);
    mpi.wait(sent);
  });
  std::map<std::string, std::uint64_t> bytes;
  const auto topology = ring(RailChoice::ByDirection).network.topology;
  for (LinkId link = 16; link < topology->links(); ++link) {
    bytes[topology->link_classes()[topology->link_class(link)]] += result.links[link].bytes;
  }
  EXPECT_EQ(bytes["dim0-plus"], 4 * kRailBytes);
  EXPECT_EQ(bytes["dim0-minus"], 4 * kRailBytes);
}

TEST(RailChoice, ByMessageAShortMessageDoesNotOvertakeALongOne) {
  // A receive that meets a longer message is an error: the engine checks the order.
  const auto result = run(ring(RailChoice::ByMessage), [](Mpi& mpi) {
    for (const std::uint64_t bytes : {std::uint64_t{16'000}, std::uint64_t{8}, std::uint64_t{12'000}}) {
      if (mpi.rank() == 0) mpi.send(1, bytes);
      if (mpi.rank() == 1) mpi.recv(0, bytes);
    }
  });
  EXPECT_EQ(result.jobs[0].messages, 3u);
}

TEST(RailStride, EveryHostIsANicOfOneNode) {
  HostConfig host;
  host.rails = 3;
  host.rail_stride = 4;
  std::set<std::uint32_t> nics;
  for (std::uint32_t node = 0; node < 8; ++node) {
    for (std::uint32_t rail = 0; rail < 3; ++rail) {
      const std::uint32_t nic = host.nic(node, rail);
      EXPECT_EQ(host.node_of(nic), node);
      EXPECT_EQ(host.rail_of(nic), rail);
      nics.insert(nic);
    }
  }
  EXPECT_EQ(nics.size(), 24u);
  EXPECT_EQ(*nics.rbegin(), 23u);
}

// A rail-optimised tree of leaves of two hosts: the NICs of nodes 0 and 1 share leaf 0 (rail 0) and leaf 1 (rail 1).
TEST(RailStride, MessagesOfABlockOfNodesStayOnTheLeafOfTheirRail) {
  auto config = small_machine({2, 4}, {1, 2}, {1, 1});
  config.network.host.rails = 2;
  config.network.host.rail_stride = 2;
  config.jobs[0].nodes = 4;
  config.jobs[0].ranks_per_node = 2;
  EXPECT_EQ(run(config, one_way(800, 2)).makespan, eager_time(800, 2));  // rank 2 is on node 1
  EXPECT_EQ(run(config, one_way(800, 4)).makespan, eager_time(800, 4));  // rank 4 is on node 2
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() < 2) mpi.send(mpi.rank() + 2, 800);
    if (mpi.rank() == 2 || mpi.rank() == 3) mpi.recv(mpi.rank() - 2, 800);
  });
  const auto& topology = *config.network.topology;
  std::set<std::string> used;
  for (LinkId link = 0; link < topology.links(); ++link) {
    if (result.links[link].bytes > 0) used.insert(topology.describe(link).target);
  }
  EXPECT_EQ(used, (std::set<std::string>{"leaf-0", "leaf-1", "host-1", "host-3"}));
}

TEST(RailStride, StripedChunksUseTheSameNicOfBothNodes) {
  auto config = small_machine({2, 4}, {1, 2}, {1, 1});
  config.network.host.rails = 2;
  config.network.host.rail_stride = 2;
  config.network.host.rail_choice = RailChoice::Striped;
  config.jobs[0].nodes = 4;
  constexpr std::uint64_t kLong = 1 << 20;
  EXPECT_EQ(run(config, one_way(kLong, 1)).makespan, acknowledged_time(kLong / 2, 2));
}

// Two planes of one switch each: both rails of four nodes.
TEST(RailStride, NodesHaveANicInEachPlane) {
  auto config = small_machine();
  config.network.topology = std::make_shared<FatTree>(std::vector<std::int64_t>{4}, std::vector<std::int64_t>{1},
                                                      std::vector<std::int64_t>{1}, "t", FatTree::Routing::DModK, 2);
  config.network.host.rails = 2;
  config.network.host.rail_stride = 4;
  config.jobs[0].nodes = 4;
  config.jobs[0].ranks_per_node = 2;
  const auto result = run(config, [](Mpi& mpi) {
    // To the same and to the other rank of the next node: a message stays in the plane of its sender.
    const int to = (mpi.rank() + 2) % mpi.size();
    const int other = to ^ 1;
    const int from = (mpi.rank() + 6) % mpi.size();
    mpi.send(to, 100);
    mpi.send(other, 100);
    mpi.recv(from, 100);
    mpi.recv(from ^ 1, 100);
  });
  for (LinkId link = 0; link < config.network.topology->links(); ++link) {
    EXPECT_EQ(result.links[link].bytes, 200u) << link;
  }
  EXPECT_THROW(config.network.topology->hops(0, 4), std::logic_error);
  EXPECT_EQ(config.network.topology->switches(), 2u);
}

}  // namespace
}  // namespace manynode::network::testing
