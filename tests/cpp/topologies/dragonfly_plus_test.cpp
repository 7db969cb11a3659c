#include "topologies/dragonfly_plus.hpp"

#include <nlohmann/json.hpp>

#include "channel_circles.hpp"
#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network::dragonfly_plus_test {
namespace {

using namespace testing;

std::string described(const std::string& routing, int groups = 4, int leaves = 3, int spines = 2, int ports = 3,
                      int hosts = 2, int cables = 1) {
  return nlohmann::json{{"kind", "dragonfly-plus"},   {"groups", groups},        {"leaves_per_group", leaves},
                        {"spines_per_group", spines}, {"hosts_per_leaf", hosts}, {"leaf_links", cables},
                        {"global_links", ports},      {"routing", routing}}
      .dump();
}

std::shared_ptr<const Topology> made(const std::string& description) {
  return make_topology(nlohmann::json::parse(description), "topology");
}

// Groups, leaves, spines, ports of a spine, hosts of a leaf, cables of a leaf to a spine.
const int kMachines[][6] = {{1, 3, 2, 0, 2, 1}, {2, 2, 2, 1, 1, 2}, {3, 2, 1, 2, 2, 1}, {4, 3, 2, 3, 2, 1},
                            {5, 2, 3, 2, 1, 2}, {6, 2, 5, 1, 1, 1}, {4, 2, 3, 1, 2, 1}, {6, 2, 5, 2, 1, 1}};

std::string machine(const int (&m)[6], const std::string& routing) {
  return described(routing, m[0], m[1], m[2], m[3], m[4], m[5]);
}

TEST(DragonflyPlus, CreatesALeonardoGroupwise) {
  // 23 groups of 18 leaves and 18 spines of 40 ports: 22 hosts, or 18 down and 22 up to the other groups.
  const auto leonardo = made(described("minimal", 23, 18, 18, 22, 22));
  EXPECT_EQ(leonardo->hosts(), 23u * 18 * 22);
  EXPECT_EQ(leonardo->switches(), 23u * 36);
  for (const auto& [name, count] : ports_of_switches(*leonardo)) EXPECT_EQ(count, 40u) << name;
  EXPECT_EQ(links_per_class(*leonardo).at("global"), 23u * 18 * 22);
}

TEST(DragonflyPlus, LinksAgreeAndEveryPairIsRoutable) {
  for (const auto& m : kMachines) {
    for (const char* routing : {"minimal", "ugal"}) {
      const auto topology = made(machine(m, routing));
      expect_links_agree(*topology);
      expect_every_pair_routable(*topology);
      expect_every_pair_routable(*topology, 12345);
    }
  }
}

TEST(DragonflyPlus, MinimalRoutesHaveTwoFourOrFiveLinks) {
  const auto topology = made(described("minimal"));
  for (std::uint32_t source = 0; source < topology->hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < topology->hosts(); ++destination) {
      if (source == destination) continue;
      const std::uint32_t expected = source / 2 == destination / 2 ? 2 : source / 6 == destination / 6 ? 4 : 5;
      ASSERT_EQ(topology->hops(source, destination), expected) << source << " to " << destination;
    }
  }
}

TEST(DragonflyPlus, UniformTrafficLoadsAllGlobalCablesAndAllLinksOfLeavesEqually) {
  // 4 groups of 6 hosts on 3 leaves; 2 spines with 3 ports: 2 cables between any two groups.
  const auto topology = made(described("minimal"));
  const auto uses = uniform_traffic(*topology);
  const Range global = range_of_class(*topology, uses, "global");
  EXPECT_EQ(global.least, 6u * 6 / 2);
  EXPECT_EQ(global.most, 6u * 6 / 2);
  const Range down = range_of_class(*topology, uses, "leaf-down");
  EXPECT_LE(down.most, down.least + 4);
}

TEST(DragonflyPlus, MessagesOfOneHostSpreadOverTheSpines) {
  const auto topology = made(described("minimal", 2, 4, 4, 2, 4));
  std::set<std::string> within, between;
  for (std::uint32_t i = 0; i < 4; ++i) {
    within.insert(topology->describe(topology->link_at(0, 4 + i, 1, 4)).target);
    between.insert(topology->describe(topology->link_at(0, 16 + i, 1, 5)).target);
  }
  EXPECT_EQ(within.size(), 4u);
  EXPECT_EQ(between.size(), 4u);
}

TEST(DragonflyPlus, UgalLeavesACrowdedCableForAThirdGroup) {
  const auto topology = made(described("ugal", 3, 2, 1, 2, 1));
  Loads loads(*topology);
  EXPECT_EQ(route(*topology, {0, 2, 7}, loads).size(), 5u);
  for (LinkId link = 0; link < topology->links(); ++link) {
    const auto ends = topology->describe(link);
    if (ends.source == "spine-0-0" && ends.target == "spine-1-0") loads.set(link, 1'000'000);
  }
  const auto around = route(*topology, {0, 2, 7}, loads);
  EXPECT_EQ(stations(*topology, around),
            (std::vector<std::string>{"leaf-0-0", "spine-0-0", "spine-2-0", "spine-1-0", "leaf-1-0", "host-2"}));
  // Below the bias the direct cable stays.
  for (LinkId link = 0; link < topology->links(); ++link) {
    const auto ends = topology->describe(link);
    if (ends.source == "spine-0-0" && ends.target == "spine-1-0") loads.set(link, 90'000);
  }
  EXPECT_EQ(route(*topology, {0, 2, 7}, loads).size(), 5u);
}

TEST(DragonflyPlus, PossibleRoutesAreThoseOfLoadAndChance) {
  for (const auto& m : kMachines) {
    for (const char* routing : {"minimal", "ugal"}) {
      const auto topology = made(machine(m, routing));
      for (std::uint32_t to = 1; to < topology->hosts(); to += 3) expect_possible(*topology, 0, to, m[0] < 5);
    }
  }
}

TEST(DragonflyPlus, VirtualChannelsExcludeCircles) {
  for (const auto& m : kMachines) {
    EXPECT_FALSE(can_deadlock(machine(m, "minimal")));
    EXPECT_FALSE(can_deadlock(machine(m, "ugal")));
  }
  EXPECT_TRUE(can_deadlock_on_one_channel(described("ugal", 6, 2, 5, 2, 1)));
}

TEST(DragonflyPlus, TheLeastCutBetweenTheHalves) {
  EXPECT_EQ(least_cut(*made(described("minimal"))), 4u * 2);  // two cables between each low and each high group
  EXPECT_EQ(least_cut(*made(described("minimal", 2, 2, 2, 1, 4))), 2u);
  EXPECT_EQ(least_cut(*made(described("minimal", 1, 4, 3, 0, 8))), 6u);  // half of the leaves
}

TEST(DragonflyPlus, RefusesGroupsThatCannotAllBeJoinedAndMistakes) {
  const auto refused = [](const std::string& key, const nlohmann::json& value) {
    auto topology = nlohmann::json::parse(described("minimal"));
    topology[key] = value;
    try {
      make_topology(topology, "t");
    } catch (const UserError& error) {
      return error.where;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused("global_links", 1), "t.global_links");
  EXPECT_EQ(refused("routing", "valiant"), "t.routing");
  EXPECT_EQ(refused("leaf_links", 0), "t.leaf_links");
  EXPECT_EQ(refused("spines", 2), "t.spines");
  EXPECT_EQ(refused("hosts_per_leaf", 1 << 30), "t");
}

}  // namespace
}  // namespace manynode::network::dragonfly_plus_test
