#include "topologies/dragonfly_2d.hpp"

#include <nlohmann/json.hpp>

#include "channel_circles.hpp"
#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network::dragonfly_2d_test {
namespace {

using namespace testing;

// Groups, rows, columns, hosts, cables in rows, cables in columns, global ports.
using Machine = int[7];
const Machine kMachines[] = {{1, 2, 3, 2, 1, 1, 0}, {1, 1, 4, 1, 2, 1, 0}, {2, 2, 2, 1, 1, 2, 1}, {3, 2, 3, 1, 1, 1, 1},
                             {4, 3, 2, 1, 2, 1, 2}, {5, 2, 2, 2, 1, 3, 1}, {3, 3, 1, 1, 1, 1, 2}};

std::string described(const Machine& m, const std::string& routing) {
  return nlohmann::json{{"kind", "dragonfly-2d"}, {"groups", m[0]},           {"rows", m[1]},
                        {"columns", m[2]},        {"hosts_per_router", m[3]}, {"row_links", m[4]},
                        {"column_links", m[5]},   {"global_links", m[6]},     {"routing", routing}}
      .dump();
}

std::shared_ptr<const Topology> made(const Machine& machine, const std::string& routing) {
  return make_topology(nlohmann::json::parse(described(machine, routing)), "topology");
}

TEST(Dragonfly2d, CreatesACrayXc) {
  // Groups of 6 x 16 routers: 15 links in the row, 5 x 3 in the column, 10 global ones, 4 nodes.
  const auto xc = made({4, 6, 16, 4, 1, 3, 10}, "minimal");
  EXPECT_EQ(xc->hosts(), 4u * 96 * 4);
  for (const auto& [name, count] : ports_of_switches(*xc)) EXPECT_EQ(count, 4u + 15 + 15 + 10) << name;
  EXPECT_EQ(links_per_class(*xc).at("global"), 4u * 960);
  EXPECT_EQ(xc->max_hops(), 7u);
}

TEST(Dragonfly2d, LinksAgreeAndEveryPairIsRoutable) {
  for (const auto& machine : kMachines) {
    for (const char* routing : {"minimal", "valiant", "ugal"}) {
      const auto topology = made(machine, routing);
      expect_links_agree(*topology);
      expect_every_pair_routable(*topology);
      expect_every_pair_routable(*topology, 777);
    }
  }
}

TEST(Dragonfly2d, RoutesInAGroupCountTheCoordinatesThatDiffer) {
  const auto topology = made({2, 3, 4, 1, 1, 1, 1}, "minimal");
  for (std::uint32_t from = 0; from < 12; ++from) {
    for (std::uint32_t to = 0; to < 12; ++to) {
      if (from == to) continue;
      const std::uint32_t apart = (from % 4 != to % 4) + (from / 4 != to / 4);
      EXPECT_EQ(topology->hops(from, to), 2 + apart);
    }
  }
}

TEST(Dragonfly2d, RoutesBetweenGroupsAreAtMostSevenLinksAndGoRowBeforeColumn) {
  const auto topology = made({3, 3, 4, 2, 1, 2, 1}, "minimal");
  std::uint32_t longest = 0;
  for (std::uint32_t to = 24; to < topology->hosts(); ++to) {
    for (std::uint32_t from = 0; from < 24; ++from) {
      const std::uint32_t hops = topology->hops(from, to);
      longest = std::max(longest, hops);
      std::uint8_t before = 2;
      for (std::uint32_t place = 1; place + 1 < hops; ++place) {
        const std::uint8_t now = topology->link_class(topology->link_at(from, to, place, hops));
        EXPECT_TRUE(now > before || before == 4 || place == 1);
        before = now;
      }
    }
  }
  EXPECT_EQ(longest, 7u);
}

TEST(Dragonfly2d, UniformTrafficLoadsAllGlobalCablesAlike) {
  const auto topology = made({4, 2, 3, 2, 1, 1, 2}, "minimal");  // 12 ports: 4 cables between any two groups
  const Range global = range_of_class(*topology, uniform_traffic(*topology), "global");
  EXPECT_EQ(global.least, 12u * 12 / 4);
  EXPECT_EQ(global.most, 12u * 12 / 4);
}

TEST(Dragonfly2d, UgalTakesAThirdGroupWhereTheCableIsCrowded) {
  const auto topology = made({3, 1, 1, 1, 1, 1, 2}, "ugal");
  Loads loads(*topology);
  EXPECT_EQ(route(*topology, {0, 1, 3}, loads).size(), 3u);
  for (LinkId link = 0; link < topology->links(); ++link) {
    const auto ends = topology->describe(link);
    if (ends.source == "router-0-0-0" && ends.target == "router-1-0-0") loads.set(link, 1'000'000);
  }
  EXPECT_EQ(route(*topology, {0, 1, 3}, loads).size(), 4u);
}

TEST(Dragonfly2d, PossibleRoutesAreThoseOfLoadAndChance) {
  for (const auto& machine : kMachines) {
    for (const char* routing : {"minimal", "valiant", "ugal"}) {
      const auto topology = made(machine, routing);
      for (std::uint32_t to = 1; to < topology->hosts(); to += 3) {
        expect_possible(*topology, 0, to, machine[0] * machine[1] * machine[2] <= 12);
      }
    }
  }
}

TEST(Dragonfly2d, VirtualChannelsExcludeCircles) {
  for (const auto& machine : kMachines) {
    for (const char* routing : {"minimal", "valiant", "ugal"}) {
      EXPECT_FALSE(can_deadlock(described(machine, routing))) << routing << " " << described(machine, routing);
    }
  }
  EXPECT_TRUE(can_deadlock_on_one_channel(described({5, 2, 2, 2, 1, 3, 1}, "minimal")));
}

TEST(Dragonfly2d, TheLeastCutBetweenTheHalves) {
  EXPECT_EQ(least_cut(*made({4, 2, 3, 8, 1, 1, 2}, "minimal")), 4u * 4);
  EXPECT_EQ(least_cut(*made({1, 2, 4, 8, 1, 3, 0}, "minimal")), 4u * 3);  // between the rows
  EXPECT_EQ(least_cut(*made({1, 1, 4, 8, 1, 1, 0}, "minimal")), 4u);      // 2 x 2 pairs of routers
}

TEST(Dragonfly2d, RefusesGroupsThatCannotAllBeJoinedAndMistakes) {
  const auto refused = [](const std::string& key, const nlohmann::json& value) {
    auto topology = nlohmann::json::parse(described({4, 2, 2, 1, 1, 1, 1}, "minimal"));
    topology[key] = value;
    try {
      make_topology(topology, "t");
    } catch (const UserError& error) {
      return error.where;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused("groups", 6), "t.global_links");
  EXPECT_EQ(refused("routing", "par"), "t.routing");
  EXPECT_EQ(refused("column_links", 0), "t.column_links");
  EXPECT_EQ(refused("routers_per_group", 2), "t.routers_per_group");
  EXPECT_EQ(refused("hosts_per_router", 1 << 30), "t");
}

}  // namespace
}  // namespace manynode::network::dragonfly_2d_test
