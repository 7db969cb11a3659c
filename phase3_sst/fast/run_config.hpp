// A run of the engine: the file RUN.json (schema network-run/1), checked and resolved. The README lists the members.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manynode/parameters.hpp"
#include "manynode/primitive.hpp"
#include "topology.hpp"

namespace manynode::fast {

// LogGPS of one node: what a message costs its sender, its receiver and their NICs.
struct HostConfig {
  double overhead_send_s{0};
  double overhead_recv_s{0};
  double gap_s{0};                     // a NIC starts at most one message per gap, in each direction
  double overhead_per_byte_s{0};       // processor time per byte, at the sender and at the receiver
  std::uint64_t eager_limit_bytes{0};  // longer messages wait for the receiver (rendezvous)
  double nic_bandwidth_Bps{1e10};
  double nic_latency_s{0};  // in each direction
  double reduce_bandwidth_Bps{1e10};
};

struct IntranodeConfig {
  double latency_s{0};
  double bandwidth_Bps{1e10};
};

struct NetworkConfig {
  std::shared_ptr<const Topology> topology;
  double link_bandwidth_Bps{1e10};
  double link_latency_s{0};
  double switch_latency_s{0};
  std::uint64_t chunk_bytes{2048};
  HostConfig host;
  IntranodeConfig intranode;
};

struct RunConfig {
  std::string application;
  Parameters parameters;
  std::uint32_t nodes{1};
  std::uint32_t ranks_per_node{1};
  NetworkConfig network;
  CollectiveChoice collectives;
  std::optional<std::string> timing_profile;  // absent: computing takes no time
  bool missing_is_zero{false};
  std::vector<std::string> class_of_rank;  // empty: all ranks have the profile's first class
  bool constant{false};
  std::uint64_t seed{1};
  std::vector<std::uint32_t> replicas{0};
  std::optional<std::uint32_t> iterations_limit;

  std::uint32_t ranks() const { return nodes * ranks_per_node; }
};

// Both throw UserError with place and remedy.
RunConfig parse_run_config(const std::string& text);
RunConfig read_run_config(const std::string& path);

}  // namespace manynode::fast
