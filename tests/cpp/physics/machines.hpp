// The machines of the physics tests: the small machine's latencies and rates on any topology.
#pragma once

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "small_machine.hpp"

namespace manynode::network::testing {

inline RunConfig machine(const std::string& topology, std::uint32_t nodes = 0) {
  RunConfig config = small_machine();
  config.network.topology = make_topology(nlohmann::json::parse(topology), "topology");
  config.jobs[0].nodes = nodes == 0 ? config.network.topology->hosts() : nodes;
  return config;
}

// The three machines of Eyerman et al., section 6.2.
inline const char* const kPaperFatTree =
    R"({"kind":"fat-tree","children":[24,24,4],"parents":[1,24,2],"parallel_links":[1,1,12]})";
inline const char* const kPaperTorus =
    R"({"kind":"torus","shape":[5,5,4],"hosts_per_switch":24,"links_per_direction":4})";
inline std::string paper_dragonfly(const std::string& routing) {
  return R"({"kind":"dragonfly","groups":5,"routers_per_group":18,"hosts_per_router":24,"local_links":1,)"
         R"("global_links":7,"routing":")" +
         routing + "\"}";
}

inline ReplicaResult run_pattern(const RunConfig& config, std::map<std::string, ParameterValue> parameters) {
  const auto ranks = static_cast<int>(config.jobs[0].ranks());
  return simulate({{make_application("patterns", Parameters(std::move(parameters)), ranks), std::nullopt}}, config, 0);
}

}  // namespace manynode::network::testing
