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

// Small machines with rows, with two-dimensional and with two-level groups, and a HyperX; 16 to 48 hosts.
inline const char* const kMesh =
    R"({"kind":"torus","shape":[6,2],"mesh":[0,1],"hosts_per_switch":2,"links_per_direction":1})";
inline const char* const kHyperX =
    R"({"kind":"hyperx","shape":[3,4],"hosts_per_switch":4,"routing":"dimension-order"})";
inline const char* const kPlus =
    R"({"kind":"dragonfly-plus","groups":4,"leaves_per_group":3,"spines_per_group":2,"hosts_per_leaf":2,"global_links":3})";
inline const char* const kGrid =
    R"({"kind":"dragonfly-2d","groups":4,"rows":2,"columns":3,"hosts_per_router":2,"global_links":1})";

inline ReplicaResult run_pattern(const RunConfig& config, std::map<std::string, ParameterValue> parameters) {
  const auto ranks = static_cast<int>(config.jobs[0].ranks());
  return simulate({{make_application("patterns", Parameters(std::move(parameters)), ranks), std::nullopt}}, config, 0);
}

}  // namespace manynode::network::testing
