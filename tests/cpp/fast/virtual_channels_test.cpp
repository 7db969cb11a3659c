// No deadlock by Dally and Seitz (1987): no circle of channels of which each is taken by chunks that then want the
// next.
#include <functional>

#include <nlohmann/json.hpp>

#include "topology_checks.hpp"

namespace manynode::network::testing {
namespace {

// Which channels follow on which, on the routes between all hosts. `draws`: routes that depend on chance have as many.
using Graph = std::vector<std::set<std::uint32_t>>;

using ChannelOf = std::function<std::uint32_t(LinkId before, std::uint32_t channel, LinkId link)>;

Graph dependencies(const Topology& topology, std::uint32_t channels, const ChannelOf& channel_of) {
  Graph graph(std::size_t{topology.links()} * channels);
  const Loads idle(topology);
  Loads loaded(topology);  // so that adaptive routes take detours
  for (LinkId link = 0; link < topology.links(); link += 2) loaded.set(link, 1'000'000'000);
  const std::uint64_t draws = topology.adaptive() ? 24 : 1;
  for (std::uint32_t source = 0; source < topology.hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < topology.hosts(); ++destination) {
      if (source == destination) continue;
      for (std::uint64_t draw = 0; draw < draws; ++draw) {
        const RouteRequest request{source, destination, draw * 0x9e3779b97f4a7c15u};
        const auto links = route(topology, request, draw % 2 == 0 ? idle : loaded);
        std::uint32_t channel = 0;
        for (std::size_t i = 1; i < links.size(); ++i) {
          const std::uint32_t next = channel_of(links[i - 1], channel, links[i]);
          EXPECT_LT(next, channels) << topology.kind();
          graph[std::size_t{links[i - 1]} * channels + channel].insert(links[i] * channels + next);
          channel = next;
        }
      }
    }
  }
  return graph;
}

bool has_circle(const Graph& graph) {
  std::vector<std::size_t> before(graph.size());
  for (const auto& next : graph) {
    for (const auto channel : next) ++before[channel];
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (before[i] == 0) ready.push_back(i);
  }
  std::size_t ordered = 0;
  while (!ready.empty()) {
    const std::size_t channel = ready.back();
    ready.pop_back();
    ++ordered;
    for (const auto next : graph[channel]) {
      if (--before[next] == 0) ready.push_back(next);
    }
  }
  return ordered < graph.size();
}

bool can_deadlock(const std::string& description) {
  const auto topology = make_topology(nlohmann::json::parse(description), "topology");
  return has_circle(dependencies(*topology, topology->virtual_channels(),
                                 [&](LinkId before, std::uint32_t channel, LinkId link) -> std::uint32_t {
                                   return topology->virtual_channel(before, static_cast<std::uint8_t>(channel), link);
                                 }));
}

bool can_deadlock_on_one_channel(const std::string& description) {
  const auto topology = make_topology(nlohmann::json::parse(description), "topology");
  return has_circle(dependencies(*topology, 1, [](LinkId, std::uint32_t, LinkId) { return 0u; }));
}

std::string torus(const std::string& shape, const std::string& links, const std::string& routing) {
  return R"({"kind":"torus","hosts_per_switch":2,"shape":)" + shape + R"(,"links_per_direction":)" + links +
         R"(,"routing":")" + routing + "\"}";
}

std::string dragonfly(const std::string& routing, const std::string& cables = "1") {
  return R"({"kind":"dragonfly","groups":5,"routers_per_group":4,"hosts_per_router":1,"global_links":1,"local_links":)" +
         cables + R"(,"routing":")" + routing + "\"}";
}

TEST(VirtualChannels, ToriHaveNoCircles) {
  for (const char* routing : {"dimension-order", "dimension-order-plus"}) {
    for (const char* shape : {"[8]", "[5]", "[4,4,2]", "[5,4]", "[2,2,2]", "[3,1,4]", "[6,3]"}) {
      for (const char* links : {"1", "2"}) {
        EXPECT_FALSE(can_deadlock(torus(shape, links, routing))) << shape << " " << links << " " << routing;
      }
    }
    EXPECT_TRUE(can_deadlock_on_one_channel(torus("[8]", "1", routing)));
    EXPECT_TRUE(can_deadlock_on_one_channel(torus("[4,4,2]", "1", routing)));
  }
}

TEST(VirtualChannels, DragonfliesHaveNoCircles) {
  for (const char* routing : {"minimal", "valiant", "ugal"}) {
    EXPECT_FALSE(can_deadlock(dragonfly(routing))) << routing;
    EXPECT_FALSE(can_deadlock(dragonfly(routing, "2"))) << routing;
    EXPECT_TRUE(can_deadlock_on_one_channel(dragonfly(routing))) << routing;
  }
}

TEST(VirtualChannels, FatTreesNeedOne) {
  const std::string tree = R"({"kind":"fat-tree","children":[4,3,2],"parents":[1,2,2],"parallel_links":[1,2,1])";
  EXPECT_FALSE(can_deadlock(tree + "}"));
  EXPECT_FALSE(can_deadlock(tree + R"(,"routing":"adaptive"})"));
  EXPECT_FALSE(can_deadlock_on_one_channel(tree + "}"));
}

}  // namespace
}  // namespace manynode::network::testing
