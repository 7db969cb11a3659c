#include "run_config.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"

namespace manynode::fast {

namespace {

constexpr std::int64_t kMostRanks = 0x7fffffff;
constexpr std::int64_t kMost32 = 0xffffffff;

void read_application(StrictObject application, RunConfig& config) {
  config.application = application.text("name");
  std::map<std::string, ParameterValue> values;
  if (application.has("parameters")) {
    StrictObject parameters = application.object("parameters");
    for (const auto& [name, value] : application.value("parameters").items()) {
      if (value.is_boolean()) {
        values[name] = value.get<bool>();
      } else if (value.is_number_integer()) {
        values[name] = value.get<std::int64_t>();
      } else if (value.is_number()) {
        values[name] = value.get<double>();
      } else if (value.is_string()) {
        values[name] = value.get<std::string>();
      } else {
        parameters.refuse(name, "a number, a text, true or false");
      }
    }
  }
  application.finish();
  config.parameters = Parameters(std::move(values));
}

HostConfig read_host(StrictObject object) {
  HostConfig host;
  host.overhead_send_s = object.not_negative("overhead_send_s");
  host.overhead_recv_s = object.not_negative("overhead_recv_s");
  host.gap_s = object.not_negative("gap_s");
  host.overhead_per_byte_s = object.not_negative("overhead_per_byte_s");
  host.eager_limit_bytes = static_cast<std::uint64_t>(object.integer("eager_limit_bytes", 0));
  host.nic_bandwidth_Bps = object.positive("nic_bandwidth_Bps");
  host.nic_latency_s = object.not_negative("nic_latency_s");
  host.reduce_bandwidth_Bps = object.positive("reduce_bandwidth_Bps");
  object.finish();
  return host;
}

NetworkConfig read_network(StrictObject object) {
  NetworkConfig network;
  network.topology = make_topology(object.value("topology"), object.place_of("topology"));
  network.link_bandwidth_Bps = object.positive("link_bandwidth_Bps");
  network.link_latency_s = object.not_negative("link_latency_s");
  network.switch_latency_s = object.not_negative("switch_latency_s");
  network.chunk_bytes = static_cast<std::uint64_t>(object.integer("chunk_bytes", 1));
  network.host = read_host(object.object("host"));
  StrictObject intranode = object.object("intranode");
  network.intranode.latency_s = intranode.not_negative("latency_s");
  network.intranode.bandwidth_Bps = intranode.positive("bandwidth_Bps");
  intranode.finish();
  object.finish();
  return network;
}

CollectiveChoice read_collectives(StrictObject object) {
  CollectiveChoice choice;
  const auto choose = [&](const char* name, std::string& algorithm) {
    if (object.has(name)) algorithm = object.text(name);
  };
  choose("barrier", choice.barrier);
  choose("bcast", choice.bcast);
  choose("reduce", choice.reduce);
  choose("allreduce", choice.allreduce);
  choose("gather", choice.gather);
  choose("allgather", choice.allgather);
  choose("scatter", choice.scatter);
  choose("alltoall", choice.alltoall);
  object.finish();
  return choice;
}

void check_shape(const RunConfig& config) {
  const auto& topology = *config.network.topology;
  if (config.nodes > topology.hosts()) {
    throw UserError("the machine has fewer hosts than the run has nodes", "nodes", std::to_string(config.nodes),
                    "at most " + std::to_string(topology.hosts()) + " with this " + topology.kind(),
                    "enlarge network.topology or lower nodes");
  }
  if (std::uint64_t{config.nodes} * config.ranks_per_node > static_cast<std::uint64_t>(kMostRanks)) {
    throw UserError("there are too many ranks", "ranks_per_node", std::to_string(config.ranks_per_node),
                    "at most 2147483647 ranks in all", "lower nodes or ranks_per_node");
  }
  if (!config.class_of_rank.empty() && config.class_of_rank.size() != config.ranks()) {
    throw UserError("the list of rank classes does not fit the number of ranks", "class_of_rank",
                    std::to_string(config.class_of_rank.size()) + " entries",
                    std::to_string(config.ranks()) + " entries, one per rank", "give each rank its class");
  }
  if (std::set<std::uint32_t>(config.replicas.begin(), config.replicas.end()).size() != config.replicas.size()) {
    throw UserError("a replica is named twice", "replicas", std::to_string(config.replicas.size()) + " entries",
                    "each replica once", "remove the repeated entries");
  }
}

}  // namespace

RunConfig parse_run_config(const std::string& text) {
  nlohmann::json file;
  try {
    file = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError("the run file is not JSON", "byte " + std::to_string(error.byte), error.what(), "JSON",
                    "mend the file at this place");
  }
  StrictObject object(file, "");
  if (object.text("schema") != "network-run/1") object.refuse("schema", "network-run/1");

  RunConfig config;
  read_application(object.object("application"), config);
  config.nodes = static_cast<std::uint32_t>(object.integer("nodes", 1, kMostRanks));
  config.ranks_per_node = static_cast<std::uint32_t>(object.integer("ranks_per_node", 1, kMostRanks));
  config.network = read_network(object.object("network"));
  if (object.has("collectives")) config.collectives = read_collectives(object.object("collectives"));
  if (object.has("timing_profile")) config.timing_profile = object.text("timing_profile");
  if (object.has("missing_is_zero")) config.missing_is_zero = object.flag("missing_is_zero");
  if (object.has("class_of_rank")) config.class_of_rank = object.texts("class_of_rank");
  if (object.has("constant")) config.constant = object.flag("constant");
  if (object.has("seed")) config.seed = static_cast<std::uint64_t>(object.integer("seed", 0));
  if (object.has("replicas")) {
    config.replicas.clear();
    for (const auto replica : object.integers("replicas", 0, kMost32)) {
      config.replicas.push_back(static_cast<std::uint32_t>(replica));
    }
  }
  if (object.has("iterations_limit")) {
    config.iterations_limit = static_cast<std::uint32_t>(object.integer("iterations_limit", 1, kMost32));
  }
  object.finish();
  check_shape(config);
  return config;
}

RunConfig read_run_config(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    throw UserError("the run file cannot be read", path, "", "a readable file", "check the path");
  }
  return parse_run_config(text.str());
}

}  // namespace manynode::fast
