// No deadlock by Dally and Seitz (1987): no circle of channels of which each is taken by chunks that then want the
// next.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "topology_checks.hpp"

namespace manynode::network::testing {

// Which channels follow on which, on the routes between all hosts. `draws`: routes that depend on chance have as many.
using Graph = std::vector<std::set<std::uint32_t>>;

using ChannelOf = std::function<std::uint32_t(LinkId before, std::uint32_t channel, LinkId link)>;

inline Graph dependencies(const Topology& topology, std::uint32_t channels, const ChannelOf& channel_of) {
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

inline bool has_circle(const Graph& graph) {
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

inline bool can_deadlock(const std::string& description) {
  const auto topology = make_topology(nlohmann::json::parse(description), "topology");
  return has_circle(dependencies(*topology, topology->virtual_channels(),
                                 [&](LinkId before, std::uint32_t channel, LinkId link) -> std::uint32_t {
                                   return topology->virtual_channel(before, static_cast<std::uint8_t>(channel), link);
                                 }));
}

inline bool can_deadlock_on_one_channel(const std::string& description) {
  const auto topology = make_topology(nlohmann::json::parse(description), "topology");
  return has_circle(dependencies(*topology, 1, [](LinkId, std::uint32_t, LinkId) { return 0u; }));
}

}  // namespace manynode::network::testing
