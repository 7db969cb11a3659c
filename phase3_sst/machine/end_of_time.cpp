#include "end_of_time.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "overhead.hpp"
#include "sim_time.hpp"

namespace manynode::network {

namespace {

// A readable number.
constexpr std::size_t kMostParts = 4;

struct Part {
  std::string key;
  std::string value;
  double seconds{0};

  bool operator==(const Part& other) const { return key == other.key; }
};

std::string key_of_class(const NetworkConfig& network, const std::string& name) {
  return network.link_classes.contains(name) ? "network.link_classes." + name : "network.link";
}

std::vector<Part> parts(const RunConfig& config, double bytes) {
  const NetworkConfig& network = config.network;
  const HostConfig& host = network.host;
  std::vector<Part> found;
  const auto add_time = [&](const std::string& key, double seconds) {
    found.push_back({key, rounded(seconds) + " s", seconds});
  };
  const auto add_rate = [&](const std::string& key, double rate_Bps) {
    found.push_back({key, rounded(rate_Bps) + " B/s", bytes / rate_Bps});
  };
  const auto add_overhead = [&](const std::string& key, const std::vector<OverheadSegment>& segments) {
    add_time(key, to_seconds(Overhead(segments).of_any(static_cast<std::uint64_t>(bytes))));
  };
  for (const std::string& name : network.topology->link_classes()) {
    const LinkConfig& link = network.link_of_class(name);
    const std::string key = key_of_class(network, name);
    add_rate(key + ".bandwidth", link.bandwidth_Bps);
    add_time(key + ".latency", link.latency_s);
  }
  add_time("network.switch_latency", network.switch_latency_s);
  add_overhead("network.host.overhead_send", host.overhead_send);
  add_overhead("network.host.overhead_recv", host.overhead_recv);
  add_time("network.host.gap", host.gap_s);
  add_time("network.host.nic_latency", host.nic_latency_s);
  add_overhead("network.host.message_latency", host.message_latency);
  add_rate("network.host.nic_bandwidth", host.nic_bandwidth_Bps);
  const auto size = static_cast<std::uint64_t>(bytes);
  add_rate("network.host.reduce_bandwidth", host.reduce_bandwidth_Bps.of(size));
  if (host.copy_bandwidth_Bps) add_rate("network.host.copy_bandwidth", host.copy_bandwidth_Bps->of(size));
  if (host.fresh_bandwidth_Bps) add_rate("network.host.fresh_bandwidth", host.fresh_bandwidth_Bps->of(size));
  add_time("network.host.collective_call", host.collective_call_s);
  add_time("network.host.collective_step", host.collective_step_s);
  add_time("network.intranode.latency", network.intranode.latency_s);
  add_rate("network.intranode.bandwidth", network.intranode.bandwidth_Bps);
  for (const JobConfig& job : config.jobs) {
    if (job.start_s > 0) add_time("start of job " + job.name, job.start_s);
    if (job.injection.kind == InjectionKind::None) continue;
    const double share = job.injection.kind == InjectionKind::Static ? job.injection.share : job.injection.least;
    add_rate("injection of job " + job.name, share * network.line_rate_Bps());
  }
  std::stable_sort(found.begin(), found.end(), [](const Part& a, const Part& b) { return a.seconds > b.seconds; });
  // Classes of links without their own values share a key.
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

std::string rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

KeyValue slowest_bandwidth(const NetworkConfig& network) {
  KeyValue slowest{"network.host.nic_bandwidth", network.host.nic_bandwidth_Bps};
  for (const std::string& name : network.topology->link_classes()) {
    const double rate_Bps = network.link_of_class(name).bandwidth_Bps;
    if (rate_Bps < slowest.value) slowest = {key_of_class(network, name) + ".bandwidth", rate_Bps};
  }
  return slowest;
}

std::vector<std::string> longest_parts(const RunConfig& config, double bytes) {
  std::vector<std::string> lines;
  for (const Part& part : parts(config, bytes)) {
    if (lines.size() == kMostParts || part.seconds == 0) break;
    lines.push_back(part.key + ", " + part.value + ": " + rounded(part.seconds) + " s for a message of " +
                    rounded(bytes) + " bytes");
  }
  return lines;
}

SimulationError end_of_time_error(const RunConfig& config, const std::string& when, std::vector<std::string> details,
                                  double mean_bytes) {
  details.insert(details.begin(), when);
  for (const std::string& line : longest_parts(config, mean_bytes)) details.push_back(line);
  return {"the simulated time has passed " + rounded(kEndOfTime_s) + " s (92 days)", details,
          "correct the key with the wrong unit, or simulate fewer iterations or shorter compute times"};
}

}  // namespace manynode::network
