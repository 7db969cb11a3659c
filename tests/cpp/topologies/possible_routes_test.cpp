// The possible routes of a pair are those that load and chance choose, in every kind and routing.
#include <nlohmann/json.hpp>

#include "topology_checks.hpp"

namespace manynode::network::testing {
namespace {

std::shared_ptr<const Topology> made(const std::string& description) {
  return make_topology(nlohmann::json::parse(description), "topology");
}

std::string dragonfly(int groups, int routers, const std::string& routing) {
  return R"({"kind":"dragonfly","hosts_per_router":1,"local_links":2,"global_links":2,"groups":)" +
         std::to_string(groups) + R"(,"routers_per_group":)" + std::to_string(routers) + R"(,"routing":")" + routing +
         "\"}";
}

void expect_all(const Topology& topology) {
  for (std::uint32_t destination = 1; destination < topology.hosts(); ++destination) {
    expect_possible(topology, 0, destination, true);
    expect_possible(topology, destination, 0, true);
  }
}

TEST(PossibleRoutes, OfAnAdaptiveFatTree) {
  const std::string tree = R"({"kind":"fat-tree","children":[2,2,3],"parents":[2,3,2],"parallel_links":[2,1,2])";
  expect_all(*made(tree + R"(,"routing":"adaptive"})"));
  EXPECT_EQ(made(tree + R"(,"routing":"adaptive"})")->possible_routes(0, 11).size(), 6u);
  expect_all(*made(tree + "}"));
  EXPECT_EQ(made(tree + "}")->possible_routes(0, 11).size(), 1u);
}

TEST(PossibleRoutes, OfADragonfly) {
  for (const char* routing : {"minimal", "minimal-by-source", "valiant", "ugal"}) {
    expect_all(*made(dragonfly(4, 3, routing)));
    expect_all(*made(dragonfly(2, 2, routing)));
    expect_all(*made(dragonfly(1, 4, routing)));
  }
}

TEST(PossibleRoutes, OfATorusAreOne) {
  const auto torus = made(
      R"({"kind":"torus","shape":[4,3],"hosts_per_switch":2,"links_per_direction":2,"routing":"dimension-order"})");
  expect_all(*torus);
  EXPECT_EQ(torus->possible_routes(0, 13).size(), 1u);
}

}  // namespace
}  // namespace manynode::network::testing
