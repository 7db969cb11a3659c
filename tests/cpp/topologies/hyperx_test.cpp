#include "topologies/hyperx.hpp"

#include <nlohmann/json.hpp>

#include "channel_circles.hpp"
#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network::hyperx_test {
namespace {

using namespace testing;

std::string described(const std::vector<int>& shape, int hosts, const std::vector<int>& links,
                      const std::string& routing) {
  return nlohmann::json{{"kind", "hyperx"},
                        {"shape", shape},
                        {"hosts_per_switch", hosts},
                        {"links_by_dimension", links},
                        {"routing", routing}}
      .dump();
}

std::shared_ptr<const Topology> made(const std::string& description) {
  return make_topology(nlohmann::json::parse(description), "topology");
}

const char* const kRoutings[] = {"dimension-order", "minimal-adaptive", "valiant"};

std::vector<std::string> small_machines(const std::string& routing) {
  return {described({1}, 3, {1}, routing),
          described({2}, 2, {2}, routing),
          described({5}, 1, {1}, routing),
          described({3, 4}, 2, {1, 2}, routing),
          described({3, 1, 2}, 2, {2, 1, 1}, routing),
          described({2, 3, 2}, 1, {1, 1, 2}, routing)};
}

TEST(HyperX, HasALinkBetweenAllSwitchesThatDifferInOneCoordinate) {
  const auto topology = made(described({4, 3}, 5, {2, 1}, "dimension-order"));
  EXPECT_EQ(topology->hosts(), 60u);
  EXPECT_EQ(topology->switches(), 12u);
  for (const auto& [name, count] : ports_of_switches(*topology)) EXPECT_EQ(count, 5u + 3 * 2 + 2) << name;
  const auto links = links_per_class(*topology);
  EXPECT_EQ(links.at("dim0"), 12u * 3 * 2);
  EXPECT_EQ(links.at("dim1"), 12u * 2);
}

TEST(HyperX, LinksAgreeAndEveryPairIsRoutable) {
  for (const char* routing : kRoutings) {
    for (const auto& description : small_machines(routing)) {
      const auto topology = made(description);
      expect_links_agree(*topology);
      expect_every_pair_routable(*topology);
      expect_every_pair_routable(*topology, 4321);
    }
  }
}

TEST(HyperX, ShortestRoutesCountTheCoordinatesThatDiffer) {
  for (const char* routing : {"dimension-order", "minimal-adaptive"}) {
    const auto topology = made(described({3, 4, 2}, 2, {1, 1, 1}, routing));
    const Loads idle(*topology);
    for (std::uint32_t source = 0; source < topology->hosts(); ++source) {
      for (std::uint32_t destination = 0; destination < topology->hosts(); ++destination) {
        if (source == destination) continue;
        const std::uint32_t from = source / 2;
        const std::uint32_t to = destination / 2;
        const std::size_t apart = (from % 3 != to % 3) + (from / 3 % 4 != to / 3 % 4) + (from / 12 != to / 12);
        ASSERT_EQ(route(*topology, {source, destination, source}, idle).size(), 2 + apart);
      }
    }
  }
}

TEST(HyperX, UniformTrafficLoadsAllLinksOfADimensionAlike) {
  const auto topology = made(described({4, 3}, 2, {1, 2}, "dimension-order"));
  const auto uses = uniform_traffic(*topology);
  // Between two switches of a column all hosts that differ in it: 2 sources, 3 rows of 2 destinations.
  const Range first = range_of_class(*topology, uses, "dim0");
  EXPECT_EQ(first.least, 2u * 3 * 2);
  EXPECT_EQ(first.most, 2u * 3 * 2);
  const Range second = range_of_class(*topology, uses, "dim1");
  EXPECT_EQ(second.least, 8u * 2 / 2);
  EXPECT_EQ(second.most, 8u * 2 / 2);
}

TEST(HyperX, MinimalAdaptiveGoesRoundACrowdedLink) {
  const auto topology = made(described({2, 2}, 1, {1, 1}, "minimal-adaptive"));
  Loads loads(*topology);
  for (LinkId link = 0; link < topology->links(); ++link) {
    if (topology->describe(link).source == "router-0-0" && topology->describe(link).target == "router-1-0") {
      loads.set(link, 1'000'000);
    }
  }
  for (std::uint64_t random = 0; random < 20; ++random) {
    EXPECT_EQ(stations(*topology, route(*topology, {0, 3, random}, loads)),
              (std::vector<std::string>{"router-0-0", "router-0-1", "router-1-1", "host-3"}));
  }
}

TEST(HyperX, PossibleRoutesAreThoseOfLoadAndChance) {
  for (const char* routing : kRoutings) {
    for (const auto& description : small_machines(routing)) {
      const auto topology = made(description);
      for (std::uint32_t to = 1; to < topology->hosts(); to += 2) expect_possible(*topology, 0, to, true);
    }
  }
}

TEST(HyperX, VirtualChannelsExcludeCircles) {
  for (const char* routing : kRoutings) {
    for (const auto& description : small_machines(routing)) EXPECT_FALSE(can_deadlock(description)) << description;
  }
  EXPECT_FALSE(can_deadlock_on_one_channel(described({3, 4}, 2, {1, 2}, "dimension-order")));
  EXPECT_TRUE(can_deadlock_on_one_channel(described({3, 4}, 2, {1, 2}, "minimal-adaptive")));
  EXPECT_TRUE(can_deadlock_on_one_channel(described({3, 4}, 2, {1, 2}, "valiant")));
}

TEST(HyperX, TheLeastCutBetweenTheHalves) {
  EXPECT_EQ(least_cut(*made(described({3, 4}, 20, {1, 2}, "valiant"))), 3u * 2 * 2 * 2);
  EXPECT_EQ(least_cut(*made(described({3, 4}, 2, {1, 2}, "valiant"))), 12u);  // the hosts of a half
  EXPECT_EQ(least_cut(*made(described({6}, 20, {1}, "valiant"))), 9u);
}

TEST(HyperX, RefusesMistakes) {
  const auto refused = [](const std::string& key, const nlohmann::json& value) {
    auto topology = nlohmann::json::parse(described({3, 4}, 2, {1, 2}, "valiant"));
    topology[key] = value;
    try {
      make_topology(topology, "t");
    } catch (const UserError& error) {
      return error.where;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused("routing", "adaptive"), "t.routing");
  EXPECT_EQ(refused("links_by_dimension", {1}), "t.links_by_dimension");
  EXPECT_EQ(refused("shape", {3, 0}), "t.shape");
  EXPECT_EQ(refused("mesh", {0}), "t.mesh");
  EXPECT_EQ(refused("hosts_per_switch", 1 << 30), "t");
}

}  // namespace
}  // namespace manynode::network::hyperx_test
