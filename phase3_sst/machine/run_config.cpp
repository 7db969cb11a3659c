#include "run_config.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "manynode/error_report.hpp"
#include "run_config_jobs.hpp"
#include "sim_time.hpp"
#include "slow_links.hpp"
#include "strict_json.hpp"

namespace manynode::network {

namespace {

constexpr std::int64_t kMost32 = 0xffffffff;
constexpr std::int64_t kMostRails = 64;
constexpr std::int64_t kMostBuffer = std::int64_t{1} << 32;
constexpr std::int64_t kMostChunk = kMost32;
// The engine fast numbers the chunks of a message by 7 bits.
constexpr std::int64_t kMostChunks = 128;
// Of buffers that are derived.
constexpr double kMostDerived = 0x1p53;
constexpr double kLeastInterval_s = 1e-12;

std::vector<OverheadSegment> read_overhead(StrictObject& host, const std::string& key) {
  std::vector<OverheadSegment> segments;
  for (StrictObject& object : host.objects(key)) {
    OverheadSegment segment;
    segment.from_bytes = static_cast<std::uint64_t>(object.integer("from_bytes", 0));
    segment.seconds = object.seconds("seconds");
    segment.seconds_per_byte = object.seconds("seconds_per_byte");
    object.finish();
    if (segments.empty() ? segment.from_bytes != 0 : segment.from_bytes <= segments.back().from_bytes) {
      object.refuse("from_bytes", "0 in the first segment, more than in the segment before in the others");
    }
    segments.push_back(segment);
  }
  if (segments.empty()) host.refuse(key, "at least one segment");
  return segments;
}

// A number, or segments by size.
BandwidthBySize read_bandwidth(StrictObject& host, const std::string& key) {
  if (!host.value(key).is_array()) return host.bandwidth(key);
  std::vector<BandwidthSegment> segments;
  for (StrictObject& object : host.objects(key)) {
    BandwidthSegment segment;
    segment.from_bytes = static_cast<std::uint64_t>(object.integer("from_bytes", 0));
    segment.bandwidth_Bps = object.bandwidth("bandwidth_Bps");
    object.finish();
    if (segments.empty() ? segment.from_bytes != 0 : segment.from_bytes <= segments.back().from_bytes) {
      object.refuse("from_bytes", "0 in the first segment, more than in the segment before in the others");
    }
    segments.push_back(segment);
  }
  if (segments.empty()) host.refuse(key, "a number, or at least one segment");
  return BandwidthBySize(std::move(segments));
}

HostConfig read_host(StrictObject object) {
  HostConfig host;
  host.overhead_send = read_overhead(object, "overhead_send");
  host.overhead_recv = read_overhead(object, "overhead_recv");
  host.gap_s = object.seconds("gap_s");
  host.eager_limit_bytes = static_cast<std::uint64_t>(object.integer("eager_limit_bytes", 0));
  host.nic_bandwidth_Bps = object.bandwidth("nic_bandwidth_Bps");
  host.nic_latency_s = object.seconds("nic_latency_s");
  if (object.has("message_latency")) host.message_latency = read_overhead(object, "message_latency");
  host.reduce_bandwidth_Bps = read_bandwidth(object, "reduce_bandwidth_Bps");
  if (object.has("copy_bandwidth_Bps")) host.copy_bandwidth_Bps = read_bandwidth(object, "copy_bandwidth_Bps");
  if (object.has("fresh_bandwidth_Bps")) host.fresh_bandwidth_Bps = read_bandwidth(object, "fresh_bandwidth_Bps");
  if (object.has("collective_call_s")) host.collective_call_s = object.seconds("collective_call_s");
  if (object.has("collective_step_s")) host.collective_step_s = object.seconds("collective_step_s");
  if (object.has("rails")) host.rails = static_cast<std::uint32_t>(object.integer("rails", 1, kMostRails));
  if (object.has("rail_stride"))
    host.rail_stride = static_cast<std::uint32_t>(object.integer("rail_stride", 1, kMost32));
  if (object.has("rail_choice")) {
    const std::string choice = object.text("rail_choice");
    const std::map<std::string, RailChoice> choices{{"by-rank", RailChoice::ByRank},
                                                    {"by-message", RailChoice::ByMessage},
                                                    {"by-direction", RailChoice::ByDirection},
                                                    {"striped", RailChoice::Striped}};
    const auto found = choices.find(choice);
    if (found == choices.end()) object.refuse("rail_choice", "by-rank, by-message, by-direction, striped");
    host.rail_choice = found->second;
  }
  if (object.has("receive")) {
    const std::string receive = object.text("receive");
    if (receive != "in-call" && receive != "on-arrival") object.refuse("receive", "in-call, on-arrival");
    host.receive = receive == "in-call" ? Receive::InCall : Receive::OnArrival;
  }
  object.finish();
  return host;
}

LinkConfig read_link(StrictObject object) {
  LinkConfig link;
  link.bandwidth_Bps = object.bandwidth("bandwidth_Bps");
  link.latency_s = object.seconds("latency_s");
  object.finish();
  return link;
}

std::map<std::string, LinkConfig> read_link_classes(StrictObject object, const nlohmann::json& value,
                                                    const Topology& topology) {
  std::map<std::string, LinkConfig> classes;
  const auto names = topology.link_classes();
  for (const auto& [name, link] : value.items()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::string allowed;
      for (const auto& known : names) allowed += (allowed.empty() ? "" : ", ") + known;
      throw UserError("the topology has no such class of links", object.place_of(name), name, allowed,
                      "name a class of this " + topology.kind());
    }
    classes.emplace(name, read_link(object.object(name)));
  }
  object.finish();
  return classes;
}

// Cables slower than their class; each gets its own class of links.
void read_slow_links(NetworkConfig& network, std::vector<StrictObject> objects, const std::string& place) {
  std::vector<SlowCable> cables;
  std::vector<double> shares;
  for (StrictObject& object : objects) {
    const auto ends = object.texts("between");
    if (ends.size() != 2) object.refuse("between", "the two ends of a cable");
    cables.push_back({ends[0], ends[1]});
    shares.push_back(object.positive("bandwidth_share"));
    if (shares.back() > 1) object.refuse("bandwidth_share", "at most 1: the share of the bandwidth that is left");
    object.finish();
  }
  const auto names = network.topology->link_classes();
  network.topology = with_slow_cables(network.topology, cables, place);
  for (const std::string& name : names) {
    for (std::size_t cable = 0; cable < cables.size(); ++cable) {
      LinkConfig link = network.link_of_class(name);
      link.bandwidth_Bps *= shares[cable];
      if (link.bandwidth_Bps < kLeastBandwidth_Bps) {
        objects[cable].refuse("bandwidth_share", "a share that leaves at least 1e-05 B/s");
      }
      network.link_classes.emplace(slow_class(name, cable), link);
    }
  }
}

std::optional<std::uint64_t> read_buffer(StrictObject& network, const std::string& key) {
  if (!network.has(key)) return std::nullopt;
  return static_cast<std::uint64_t>(network.integer(key, 1, kMostBuffer));
}

void check_flow_control(const NetworkConfig& network, const StrictObject& object) {
  const auto check_buffer = [&](const std::string& key, std::uint64_t bytes) {
    if (bytes >= network.chunk_bytes) return;
    throw UserError("a buffer has no room for a chunk", object.place_of(key), std::to_string(bytes) + " bytes",
                    "at least chunk_bytes, " + std::to_string(network.chunk_bytes), "enlarge it or lower chunk_bytes");
  };
  if (network.flow_control == FlowControl::None) return;
  const double derived = network.derived_buffer_bytes();
  if (derived > kMostDerived && (!network.input_buffer_bytes || !network.output_buffer_bytes)) {
    throw UserError("the buffers would be larger than can be counted", object.place_of("input_buffer_bytes"),
                    "none given, and twice the bandwidth times the round trip of latencies is too much",
                    "at most 2^53 bytes", "correct the bandwidths or latencies, or give both buffers");
  }
  check_buffer("input_buffer_bytes", network.buffers().input_bytes);
  check_buffer("output_buffer_bytes", network.buffers().output_bytes);
  if (!network.contention) {
    throw UserError("flow control without contention has nothing to control", object.place_of("flow_control"),
                    "credits with contention false", "none", "choose one of the two");
  }
  if (network.host.receive == Receive::OnArrival) {
    throw UserError("whole messages do not go through finite buffers", object.place_of("flow_control"),
                    "credits with host.receive on-arrival, which does not cut messages into chunks", "none",
                    "choose none, or host.receive in-call");
  }
}

NetworkConfig read_network(StrictObject object) {
  NetworkConfig network;
  network.topology = make_topology(object.value("topology"), object.place_of("topology"));
  network.link = read_link(object.object("link"));
  if (object.has("link_classes")) {
    network.link_classes =
        read_link_classes(object.object("link_classes"), object.value("link_classes"), *network.topology);
  }
  if (object.has("slow_links")) {
    read_slow_links(network, object.objects("slow_links"), object.place_of("slow_links"));
  }
  network.switch_latency_s = object.seconds("switch_latency_s");
  network.chunk_bytes = static_cast<std::uint64_t>(object.integer("chunk_bytes", 1, kMostChunk));
  if (object.has("most_chunks")) {
    network.most_chunks = static_cast<std::uint32_t>(object.integer("most_chunks", 1, kMostChunks));
  }
  if (object.has("contention")) network.contention = object.flag("contention");
  if (object.has("flow_control")) {
    const std::string flow_control = object.text("flow_control");
    if (flow_control != "none" && flow_control != "credits") object.refuse("flow_control", "none, credits");
    network.flow_control = flow_control == "none" ? FlowControl::None : FlowControl::Credits;
  }
  network.input_buffer_bytes = read_buffer(object, "input_buffer_bytes");
  network.output_buffer_bytes = read_buffer(object, "output_buffer_bytes");
  network.host = read_host(object.object("host"));
  if (network.host.rail_choice == RailChoice::ByDirection && !network.topology->has_directions()) {
    throw UserError("routes of the " + network.topology->kind() + " leave in no direction that could choose a rail",
                    object.place_of("host") + ".rail_choice", "by-direction",
                    "by-rank, by-message or striped; by-direction in tori", "choose another rail_choice");
  }
  const std::uint64_t block = std::uint64_t{network.host.rails} * network.host.rail_stride;
  if (network.host.rails == 1 && network.host.rail_stride > 1) {
    throw UserError("nodes with one NIC have no stride of NICs", object.place_of("host") + ".rail_stride",
                    std::to_string(network.host.rail_stride), "1, or several rails", "leave rail_stride out");
  }
  if (network.topology->hosts() % network.host.rails == 0 && network.topology->hosts() % block != 0) {
    throw UserError("the NICs of the last nodes do not fit the topology", object.place_of("host") + ".rail_stride",
                    std::to_string(network.host.rail_stride) + " with " + std::to_string(network.host.rails) +
                        " rails and " + std::to_string(network.topology->hosts()) + " hosts",
                    "rails * rail_stride divides the hosts of the topology", "choose another rail_stride");
  }
  const std::uint32_t planes = network.topology->planes();
  if (planes > 1 && (network.host.rails != planes || network.host.rail_stride != network.topology->hosts() / planes)) {
    throw UserError("the planes of the topology are joined by nodes with a NIC in each of them",
                    object.place_of("host") + ".rails and rail_stride",
                    std::to_string(network.host.rails) + " and " + std::to_string(network.host.rail_stride),
                    std::to_string(planes) + " and " + std::to_string(network.topology->hosts() / planes),
                    "give each node a NIC in each plane");
  }
  if (network.topology->hosts() % network.host.rails != 0) {
    throw UserError(
        "the rails do not divide the hosts of the topology", object.place_of("host") + ".rails",
        std::to_string(network.host.rails) + " with " + std::to_string(network.topology->hosts()) + " hosts",
        "a divisor of the number of hosts", "make the topology larger or choose other rails");
  }
  StrictObject intranode = object.object("intranode");
  network.intranode.latency_s = intranode.seconds("latency_s");
  network.intranode.bandwidth_Bps = intranode.bandwidth("bandwidth_Bps");
  intranode.finish();
  check_flow_control(network, object);
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
  choose("reduce_scatter", choice.reduce_scatter);
  choose("scan", choice.scan);
  choose("rules", choice.rules);
  if (object.has("segment_bytes"))
    choice.segment_bytes = static_cast<std::uint64_t>(object.integer("segment_bytes", 1));
  object.finish();
  return choice;
}

// Algorithms in two levels need to know who shares a node, which the library derives from blocks of ranks.
void check_node_leaders(const RunConfig& config) {
  for (const CollectiveField& field : collective_fields()) {
    if (config.collectives.*field.algorithm != "node_leader") continue;
    for (const JobConfig& job : config.jobs) {
      if (job.block_ranks_per_node() > 0) continue;
      throw UserError("an algorithm in two levels needs ranks that are placed node by node",
                      std::string("collectives.") + field.collective,
                      "node_leader, and job " + job.name + " in another order", "rank order block, or other algorithms",
                      "choose another algorithm for " + std::string(field.collective));
    }
  }
}

void check_replicas(const std::vector<std::uint32_t>& replicas) {
  if (std::set<std::uint32_t>(replicas.begin(), replicas.end()).size() != replicas.size()) {
    throw UserError("a replica is named twice", "replicas", std::to_string(replicas.size()) + " entries",
                    "each replica once", "remove the repeated entries");
  }
}

}  // namespace

const LinkConfig& NetworkConfig::link_of_class(const std::string& name) const {
  const auto found = link_classes.find(name);
  return found == link_classes.end() ? link : found->second;
}

double NetworkConfig::derived_buffer_bytes() const {
  double rate = 0;
  double latency = 0;
  for (const std::string& name : topology->link_classes()) {
    const LinkConfig& of_class = link_of_class(name);
    const bool to_host = name.starts_with("host-");
    rate = std::max(rate, to_host ? std::min(of_class.bandwidth_Bps, host.nic_bandwidth_Bps) : of_class.bandwidth_Bps);
    latency = std::max(latency, of_class.latency_s);
  }
  constexpr double kSpareChunks = 128;
  const double round_trip = 2 * (latency + switch_latency_s);
  const double flying = std::ceil(2 * rate * round_trip / static_cast<double>(chunk_bytes));
  return (flying + kSpareChunks) * static_cast<double>(chunk_bytes);
}

BufferConfig NetworkConfig::buffers() const {
  const auto derived = static_cast<std::uint64_t>(std::min(derived_buffer_bytes(), kMostDerived));
  return {input_buffer_bytes.value_or(derived), output_buffer_bytes.value_or(derived)};
}

bool RunConfig::controls_injection() const {
  return std::any_of(jobs.begin(), jobs.end(),
                     [](const JobConfig& job) { return job.injection.kind != InjectionKind::None; });
}

std::uint32_t RunConfig::ranks() const {
  std::uint32_t sum = 0;
  for (const auto& job : jobs) sum += job.ranks();
  return sum;
}

RunConfig parse_run_config(const std::string& text) {
  const nlohmann::json file = parse_json(text);
  StrictObject object(file, "");
  if (object.text("schema") != "network-run/2") object.refuse("schema", "network-run/2");

  RunConfig config;
  config.network = read_network(object.object("network"));
  for (StrictObject& job : object.objects("jobs")) config.jobs.push_back(read_job(job));
  if (object.has("collectives")) config.collectives = read_collectives(object.object("collectives"));
  if (object.has("counters")) {
    StrictObject counters = object.object("counters");
    const std::string per = counters.text("per");
    if (per != "class" && per != "link") counters.refuse("per", "class, link");
    config.counters =
        CountersConfig{counters.number_between("interval_s", kLeastInterval_s, kLongestStep_s), per == "link"};
    counters.finish();
  }
  if (object.has("seed")) config.seed = object.seed("seed");
  if (object.has("replicas")) {
    config.replicas.clear();
    for (const auto replica : object.integers("replicas", 0, kMost32)) {
      config.replicas.push_back(static_cast<std::uint32_t>(replica));
    }
  }
  object.finish();
  check_jobs(config);
  check_node_leaders(config);
  check_replicas(config.replicas);
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

}  // namespace manynode::network
