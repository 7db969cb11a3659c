// A run of the engine: the file RUN.json (schema network-run/2), checked and resolved. The README lists its members.
// The SimGrid engine reads the same file with the same code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bandwidth_by_size.hpp"
#include "manynode/parameters.hpp"
#include "manynode/primitive.hpp"
#include "topology.hpp"

namespace manynode::network {

// Processor time of a message by its size, from `from_bytes` up to where the next segment begins.
struct OverheadSegment {
  std::uint64_t from_bytes{0};
  double seconds{0};
  double seconds_per_byte{0};
};

enum class RailChoice : std::uint8_t {
  ByRank,       // a rank has one of its node's NICs: its number on the node modulo the rails
  ByMessage,    // a rank's messages take turns over the NICs, beginning with its own
  ByDirection,  // the direction in which the route leaves the switch chooses the NIC, modulo the rails
  Striped,      // chunks of a message take turns over the NICs
};

// Who receives messages.
enum class Receive : std::uint8_t {
  InCall,     // the NIC; the processor pays its overhead in the waiting call
  OnArrival,  // the processor, on arrival (processor.hpp)
};

// LogGPS of one node: the costs of a message for sender, receiver and their NICs.
struct HostConfig {
  std::vector<OverheadSegment> overhead_send{{}};  // sorted, the first from 0 bytes
  std::vector<OverheadSegment> overhead_recv{{}};
  double gap_s{0};                     // a NIC starts at most one message per gap, in each direction
  std::uint64_t eager_limit_bytes{0};  // longer messages wait for the receiver (rendezvous)
  double nic_bandwidth_Bps{1e10};
  double nic_latency_s{0};                            // in each direction
  std::vector<OverheadSegment> message_latency{{}};   // by size, once and beyond that of the NICs
  BandwidthBySize reduce_bandwidth_Bps{1e10};         // at which a rank combines buffers
  std::optional<BandwidthBySize> copy_bandwidth_Bps;  // at which collectives copy; absent: copies take no time
  // At which collectives write fresh temporary buffers; absent: no longer than others.
  std::optional<BandwidthBySize> fresh_bandwidth_Bps;
  double collective_call_s{0};   // of the processor, once per collective and rank
  double collective_step_s{0};   // likewise, once per step of a collective
  std::uint32_t rails{1};        // NICs per node
  std::uint32_t rail_stride{1};  // hosts of the topology from one NIC of a node to the next
  RailChoice rail_choice{RailChoice::ByRank};
  Receive receive{Receive::InCall};

  // Of collectives: what takes time.
  LocalWork local_work() const {
    return {.copies = copy_bandwidth_Bps.has_value(),
            .calls = collective_call_s > 0,
            .steps = collective_step_s > 0,
            .fresh = fresh_bandwidth_Bps.has_value()};
  }

  // The host of the topology that is a NIC of a node. Nodes come in blocks of rail_stride; of a block, the first NICs
  // of all nodes are consecutive hosts, then the second ones: with the hosts of a switch as stride, the NICs of a node
  // are on different switches.
  std::uint32_t nic(std::uint32_t node, std::uint32_t rail) const {
    return (node / rail_stride * rails + rail) * rail_stride + node % rail_stride;
  }
  std::uint32_t rail_of(std::uint32_t nic) const { return nic / rail_stride % rails; }
  std::uint32_t node_of(std::uint32_t nic) const {
    return nic / (rail_stride * rails) * rail_stride + nic % rail_stride;
  }
};

struct IntranodeConfig {
  double latency_s{0};
  double bandwidth_Bps{1e10};
};

struct LinkConfig {
  double bandwidth_Bps{1e10};
  double latency_s{0};
};

enum class FlowControl : std::uint8_t {
  None,     // unlimited buffers
  Credits,  // finite buffers (credit_fabric.hpp)
};

// Bytes per virtual channel of the buffers behind and before a link.
struct BufferConfig {
  std::uint64_t input_bytes{0};
  std::uint64_t output_bytes{0};
};

struct NetworkConfig {
  std::shared_ptr<const Topology> topology;
  LinkConfig link;
  std::map<std::string, LinkConfig> link_classes;  // where a class of links differs
  double switch_latency_s{0};
  std::uint64_t chunk_bytes{2048};
  // Longer messages have larger chunks, which limits the number of events. 64 chunks reach 98 % of the line rate for
  // any rates of NIC and link: if a slow port feeds a fast one, one chunk is delayed by its own length.
  std::uint32_t most_chunks{64};
  bool contention{true};  // false: links never make a chunk wait
  FlowControl flow_control{FlowControl::None};
  std::optional<std::uint64_t> input_buffer_bytes;
  std::optional<std::uint64_t> output_buffer_bytes;
  HostConfig host;
  IntranodeConfig intranode;

  // The lower rate of a NIC and its link.
  double line_rate_Bps() const { return std::min(host.nic_bandwidth_Bps, link_of_class("host-up").bandwidth_Bps); }
  // Number of nodes of the machine.
  std::uint32_t room() const { return topology->hosts() / host.rails; }
  const LinkConfig& link_of_class(const std::string& name) const;
  // Default: twice the bandwidth-delay product (fastest link, longest credit round trip) plus 128 chunks, for moments
  // in which several inputs want one output. The engine sst has the same default.
  BufferConfig buffers() const;
  // The default, without the limits of a number of bytes.
  double derived_buffer_bytes() const;
};

enum class RankOrder : std::uint8_t { Block, Cyclic, Listed };

enum class InjectionKind : std::uint8_t { None, Static, Aimd };

// Injection control of a job's NICs (injection_control.hpp). Shares are of the line rate.
struct InjectionConfig {
  InjectionKind kind{InjectionKind::None};
  double share{1};         // static: the rate
  double window_s{10e-6};  // aimd: time between two changes of the rate
  double gain{1.0 / 16};   // weight of the last window in the running average
  double sensitivity{0};
  double threshold{0.01};  // average share stalled above which the rate falls
  double increase{0.01};
  double least{0.01};  // rate
};

// One application on some nodes of the machine.
struct JobConfig {
  std::string name{"main"};
  std::string application;
  Parameters parameters;
  std::uint32_t nodes{1};
  std::uint32_t ranks_per_node{1};
  std::vector<std::uint32_t> hosts;  // [node of the job] node of the machine; empty: the same number
  RankOrder rank_order{RankOrder::Block};
  std::vector<std::uint32_t> slots;  // [rank] with RankOrder::Listed: a permutation
  double start_s{0};
  bool background{false};                     // repeats for ever; the run ends with the other jobs
  std::optional<std::string> timing_profile;  // absent: computing takes no time
  bool missing_is_zero{false};
  std::vector<std::string> class_of_rank;  // empty: all ranks have the profile's first class
  bool constant{false};
  bool persistent{false};  // ranks and nodes keep their differences, if the profile has them
  bool tail{false};        // times beyond the samples, if the profile has tails
  std::optional<std::uint32_t> iterations_limit;
  InjectionConfig injection;

  std::uint32_t ranks() const { return nodes * ranks_per_node; }
  // Of ranks that are placed node by node; 0: in another order.
  int block_ranks_per_node() const { return rank_order == RankOrder::Block ? static_cast<int>(ranks_per_node) : 0; }
  // Slots of a job are numbered node by node.
  std::uint32_t slot_of(std::uint32_t rank) const {
    if (rank_order == RankOrder::Listed) return slots[rank];
    return rank_order == RankOrder::Block ? rank : rank % nodes * ranks_per_node + rank / nodes;
  }
  // Number among the job's nodes: draws do not depend on the job's placement.
  std::uint32_t own_node_of(std::uint32_t rank) const { return slot_of(rank) / ranks_per_node; }
  // Number among the ranks of its node.
  std::uint32_t number_on_node(std::uint32_t rank) const { return slot_of(rank) % ranks_per_node; }
  // Node of the machine.
  std::uint32_t node_of(std::uint32_t rank) const {
    const std::uint32_t node = own_node_of(rank);
    return hosts.empty() ? node : hosts[node];
  }
};

struct CountersConfig {
  double interval_s{0};
  bool per_link{false};  // else per class of link
};

struct RunConfig {
  std::vector<JobConfig> jobs;
  NetworkConfig network;
  CollectiveChoice collectives;
  std::optional<CountersConfig> counters;
  std::uint64_t seed{1};
  std::vector<std::uint32_t> replicas{0};

  std::uint32_t ranks() const;
  // Whether any job has injection control.
  bool controls_injection() const;
};

// Both throw UserError with place and remedy.
RunConfig parse_run_config(const std::string& text);
RunConfig read_run_config(const std::string& path);

}  // namespace manynode::network
