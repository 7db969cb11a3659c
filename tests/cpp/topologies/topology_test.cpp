// Topologies from run files: every kind is found, every mistake is named with place, what is allowed and a remedy.
#include "topology.hpp"

#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network {
namespace {

using nlohmann::json;

const json kFatTree = {{"kind", "fat-tree"}, {"children", {4, 3}}, {"parents", {1, 2}}, {"parallel_links", {1, 2}}};
const json kTorus = {{"kind", "torus"}, {"shape", {4, 3}}, {"hosts_per_switch", 2}, {"links_per_direction", 2}};
const json kDragonfly = {
    {"kind", "dragonfly"}, {"groups", 3}, {"routers_per_group", 2}, {"hosts_per_router", 2}, {"global_links", 1}};

json with(json topology, const std::string& key, const json& value) {
  topology[key] = value;
  return topology;
}

UserError refusal(const json& topology) {
  try {
    make_topology(topology, "network.topology");
  } catch (const UserError& error) {
    EXPECT_FALSE(error.remedy.empty()) << error.what();
    return error;
  }
  ADD_FAILURE() << "accepted: " << topology.dump();
  return UserError("accepted");
}

void expect_refused(const json& topology, const std::string& where, const std::string& allowed) {
  const UserError error = refusal(topology);
  EXPECT_EQ(error.where, where);
  EXPECT_NE(error.allowed.find(allowed), std::string::npos) << error.allowed;
  EXPECT_FALSE(error.found.empty());
}

TEST(Topology, EveryKindIsMadeFromItsObject) {
  const auto kinds = topology_kinds();
  for (const char* kind : {"dragonfly", "fat-tree", "torus"}) {
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kind), 1) << kind;
  }
  EXPECT_EQ(make_topology(kFatTree, "")->hosts(), 12u);
  EXPECT_EQ(make_topology(kTorus, "")->hosts(), 24u);
  EXPECT_EQ(make_topology(kDragonfly, "")->hosts(), 12u);
}

TEST(Topology, RoutingIsChosenByName) {
  EXPECT_FALSE(make_topology(kFatTree, "")->adaptive());
  EXPECT_FALSE(make_topology(with(kFatTree, "routing", "d-mod-k"), "")->adaptive());
  EXPECT_TRUE(make_topology(with(kFatTree, "routing", "adaptive"), "")->adaptive());
  EXPECT_FALSE(make_topology(with(kTorus, "routing", "dimension-order"), "")->adaptive());
  EXPECT_FALSE(make_topology(with(kTorus, "routing", "dimension-order-plus"), "")->adaptive());
  EXPECT_FALSE(make_topology(kDragonfly, "")->adaptive());
  EXPECT_FALSE(make_topology(with(kDragonfly, "routing", "minimal"), "")->adaptive());
  EXPECT_TRUE(make_topology(with(kDragonfly, "routing", "valiant"), "")->adaptive());
  EXPECT_TRUE(make_topology(with(kDragonfly, "routing", "ugal"), "")->adaptive());
}

TEST(Topology, RefusesAnUnknownKind) {
  for (const auto& kind : topology_kinds()) {
    expect_refused(with(kTorus, "kind", "moebius-strip"), "network.topology.kind", kind);
  }
}

TEST(Topology, RefusesAnUnknownRouting) {
  expect_refused(with(kFatTree, "routing", "ecmp"), "network.topology.routing", "d-mod-k, adaptive");
  expect_refused(with(kTorus, "routing", "adaptive"), "network.topology.routing", "dimension-order");
  expect_refused(with(kDragonfly, "routing", "par"), "network.topology.routing",
                 "minimal, minimal-by-source, valiant, ugal");
}

TEST(Topology, RefusesSizesAndLinksOfZero) {
  expect_refused(with(kFatTree, "children", {4, 0}), "network.topology.children", "at least 1");
  expect_refused(with(kFatTree, "parents", {1, 0}), "network.topology.parents", "at least 1");
  expect_refused(with(kFatTree, "parallel_links", {1, 0}), "network.topology.parallel_links", "at least 1");
  expect_refused(with(kTorus, "shape", {4, 0}), "network.topology.shape", "at least 1");
  expect_refused(with(kTorus, "shape", json::array()), "network.topology.shape", "list");
  expect_refused(with(kTorus, "hosts_per_switch", 0), "network.topology.hosts_per_switch", "at least 1");
  expect_refused(with(kTorus, "links_per_direction", 0), "network.topology.links_per_direction", "at least 1");
  expect_refused(with(kDragonfly, "groups", 0), "network.topology.groups", "at least 1");
  expect_refused(with(kDragonfly, "hosts_per_router", 0), "network.topology.hosts_per_router", "at least 1");
  expect_refused(with(kDragonfly, "local_links", 0), "network.topology.local_links", "at least 1");
  expect_refused(with(kDragonfly, "ugal_bias", -1), "network.topology.ugal_bias", "from 0 to");
}

TEST(Topology, RefusesLinksAndRowsOfDimensionsThatATorusDoesNotHave) {
  expect_refused(with(kTorus, "links_by_dimension", {1}), "network.topology.links_by_dimension", "each of the 2");
  expect_refused(with(kTorus, "links_by_dimension", {1, 0}), "network.topology.links_by_dimension", "at least 1");
  expect_refused(with(kTorus, "mesh", {2}), "network.topology.mesh", "0 to 1");
  EXPECT_EQ(make_topology(with(kTorus, "mesh", json::array()), "")->links(), make_topology(kTorus, "")->links());
  EXPECT_LT(make_topology(with(kTorus, "mesh", {1}), "")->links(), make_topology(kTorus, "")->links());
}

TEST(Topology, RefusesGroupsThatCannotAllBeJoined) {
  // 2 routers with 1 global link each reach 2 other groups.
  expect_refused(with(kDragonfly, "groups", 4), "network.topology.global_links", "at least 2");
  expect_refused(with(kDragonfly, "global_links", 0), "network.topology.global_links", "at least 1");
}

TEST(Topology, RefusesUnknownAndMissingMembers) {
  EXPECT_EQ(refusal(with(kTorus, "width", 2)).where, "network.topology.width");
  json without = kDragonfly;
  without.erase("global_links");
  EXPECT_EQ(refusal(without).where, "network.topology.global_links");
}

TEST(Topology, RefusesTooLargeMachinesOfEveryKind) {
  EXPECT_EQ(refusal(with(kFatTree, "children", {65'536, 65'536})).where, "network.topology");
  EXPECT_EQ(refusal(with(kTorus, "hosts_per_switch", 1 << 30)).where, "network.topology");
  EXPECT_EQ(refusal(with(kDragonfly, "hosts_per_router", 1 << 30)).where, "network.topology");
}

}  // namespace
}  // namespace manynode::network
