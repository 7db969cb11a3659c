#include "run_config.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "manynode/error_report.hpp"
#include "slow_links.hpp"
#include "strict_json.hpp"

namespace manynode::fast {

namespace {

constexpr std::int64_t kMostRanks = 0x7fffffff;
constexpr std::int64_t kMost32 = 0xffffffff;
constexpr std::size_t kMostJobs = 32;
constexpr std::int64_t kMostRails = 64;
constexpr double kLeastWindow = 1e-9;
constexpr std::int64_t kMostBuffer = std::int64_t{1} << 32;

Parameters read_parameters(StrictObject application) {
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
  return Parameters(std::move(values));
}

void check_job(const JobConfig& job, const std::string& place, std::uint32_t room, const std::string& kind) {
  if (job.nodes > room) {
    throw UserError("the machine has fewer nodes than the job", place + ".nodes", std::to_string(job.nodes),
                    "at most " + std::to_string(room) + " with this " + kind,
                    "enlarge network.topology or lower nodes");
  }
  if (std::uint64_t{job.nodes} * job.ranks_per_node > static_cast<std::uint64_t>(kMostRanks)) {
    throw UserError("there are too many ranks", place + ".ranks_per_node", std::to_string(job.ranks_per_node),
                    "at most 2147483647 ranks in all", "lower nodes or ranks_per_node");
  }
  if (!job.hosts.empty()) {
    const std::set<std::uint32_t> hosts(job.hosts.begin(), job.hosts.end());
    if (job.hosts.size() != job.nodes || hosts.size() != job.hosts.size() || *hosts.rbegin() >= room) {
      throw UserError("the list of hosts does not fit the job", place + ".hosts",
                      std::to_string(job.hosts.size()) + " entries, " + std::to_string(hosts.size()) +
                          " of them different, the largest " + std::to_string(*hosts.rbegin()),
                      std::to_string(job.nodes) + " different nodes below " + std::to_string(room),
                      "give each node of the job one node of the machine");
    }
  }
  if (!job.class_of_rank.empty() && job.class_of_rank.size() != job.ranks()) {
    throw UserError("the list of rank classes does not fit the number of ranks", place + ".class_of_rank",
                    std::to_string(job.class_of_rank.size()) + " entries",
                    std::to_string(job.ranks()) + " entries, one per rank", "give each rank its class");
  }
}

double read_share(StrictObject& object, const std::string& key) {
  const double share = object.positive(key);
  if (share > 1) object.refuse(key, "a share above 0, at most 1");
  return share;
}

InjectionConfig read_injection(StrictObject object) {
  InjectionConfig injection;
  const std::string kind = object.text("kind");
  if (kind == "static") {
    injection.kind = InjectionKind::Static;
    injection.share = read_share(object, "share");
  } else if (kind == "aimd") {
    injection.kind = InjectionKind::Aimd;
    injection.window_s = object.positive("window_s");
    if (injection.window_s < kLeastWindow) object.refuse("window_s", "at least 1e-9");
    injection.gain = read_share(object, "gain");
    injection.sensitivity = object.not_negative("sensitivity");
    injection.threshold = object.not_negative("threshold");
    injection.increase = read_share(object, "increase");
    injection.least = read_share(object, "least");
  } else if (kind != "none") {
    object.refuse("kind", "none, static, aimd");
  }
  object.finish();
  return injection;
}

JobConfig read_job(StrictObject object) {
  JobConfig job;
  if (object.has("name")) job.name = object.text("name");
  StrictObject application = object.object("application");
  job.application = application.text("name");
  job.parameters = read_parameters(application);
  application.has("parameters");
  application.finish();
  job.nodes = static_cast<std::uint32_t>(object.integer("nodes", 1, kMostRanks));
  job.ranks_per_node = static_cast<std::uint32_t>(object.integer("ranks_per_node", 1, kMostRanks));
  if (object.has("hosts")) {
    for (const auto host : object.integers("hosts", 0, kMostRanks)) {
      job.hosts.push_back(static_cast<std::uint32_t>(host));
    }
  }
  if (object.has("rank_order")) {
    const std::string order = object.text("rank_order");
    if (order != "block" && order != "cyclic") object.refuse("rank_order", "block, cyclic");
    job.rank_order = order == "block" ? RankOrder::Block : RankOrder::Cyclic;
  }
  if (object.has("start_s")) job.start_s = object.not_negative("start_s");
  if (object.has("background")) job.background = object.flag("background");
  if (object.has("timing_profile")) job.timing_profile = object.text("timing_profile");
  if (object.has("missing_is_zero")) job.missing_is_zero = object.flag("missing_is_zero");
  if (object.has("class_of_rank")) job.class_of_rank = object.texts("class_of_rank");
  if (object.has("constant")) job.constant = object.flag("constant");
  if (object.has("persistent")) job.persistent = object.flag("persistent");
  if (object.has("tail")) job.tail = object.flag("tail");
  if (object.has("iterations_limit")) {
    job.iterations_limit = static_cast<std::uint32_t>(object.integer("iterations_limit", 1, kMost32));
  }
  if (object.has("injection")) job.injection = read_injection(object.object("injection"));
  object.finish();
  return job;
}

std::vector<OverheadSegment> read_overhead(StrictObject& host, const std::string& key) {
  std::vector<OverheadSegment> segments;
  for (StrictObject& object : host.objects(key)) {
    OverheadSegment segment;
    segment.from_bytes = static_cast<std::uint64_t>(object.integer("from_bytes", 0));
    segment.seconds = object.not_negative("seconds");
    segment.seconds_per_byte = object.not_negative("seconds_per_byte");
    object.finish();
    if (segments.empty() ? segment.from_bytes != 0 : segment.from_bytes <= segments.back().from_bytes) {
      object.refuse("from_bytes", "0 in the first segment, more than in the segment before in the others");
    }
    segments.push_back(segment);
  }
  if (segments.empty()) host.refuse(key, "at least one segment");
  return segments;
}

HostConfig read_host(StrictObject object) {
  HostConfig host;
  host.overhead_send = read_overhead(object, "overhead_send");
  host.overhead_recv = read_overhead(object, "overhead_recv");
  host.gap_s = object.not_negative("gap_s");
  host.eager_limit_bytes = static_cast<std::uint64_t>(object.integer("eager_limit_bytes", 0));
  host.nic_bandwidth_Bps = object.positive("nic_bandwidth_Bps");
  host.nic_latency_s = object.not_negative("nic_latency_s");
  host.reduce_bandwidth_Bps = object.positive("reduce_bandwidth_Bps");
  if (object.has("rails")) host.rails = static_cast<std::uint32_t>(object.integer("rails", 1, kMostRails));
  if (object.has("rail_choice")) {
    const std::string choice = object.text("rail_choice");
    if (choice != "by-rank" && choice != "striped") object.refuse("rail_choice", "by-rank, striped");
    host.rail_choice = choice == "by-rank" ? RailChoice::ByRank : RailChoice::Striped;
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
  link.bandwidth_Bps = object.positive("bandwidth_Bps");
  link.latency_s = object.not_negative("latency_s");
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

// Cables slower than their class: the network gets a class of links for each.
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
  network.switch_latency_s = object.not_negative("switch_latency_s");
  network.chunk_bytes = static_cast<std::uint64_t>(object.integer("chunk_bytes", 1));
  if (object.has("contention")) network.contention = object.flag("contention");
  if (object.has("flow_control")) {
    const std::string flow_control = object.text("flow_control");
    if (flow_control != "none" && flow_control != "credits") object.refuse("flow_control", "none, credits");
    network.flow_control = flow_control == "none" ? FlowControl::None : FlowControl::Credits;
  }
  network.input_buffer_bytes = read_buffer(object, "input_buffer_bytes");
  network.output_buffer_bytes = read_buffer(object, "output_buffer_bytes");
  network.host = read_host(object.object("host"));
  if (network.topology->hosts() % network.host.rails != 0) {
    throw UserError(
        "the rails do not divide the hosts of the topology", object.place_of("host") + ".rails",
        std::to_string(network.host.rails) + " with " + std::to_string(network.topology->hosts()) + " hosts",
        "a divisor of the number of hosts", "make the topology larger or choose other rails");
  }
  StrictObject intranode = object.object("intranode");
  network.intranode.latency_s = intranode.not_negative("latency_s");
  network.intranode.bandwidth_Bps = intranode.positive("bandwidth_Bps");
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
  choose("rules", choice.rules);
  object.finish();
  return choice;
}

void check_replicas(const std::vector<std::uint32_t>& replicas) {
  if (std::set<std::uint32_t>(replicas.begin(), replicas.end()).size() != replicas.size()) {
    throw UserError("a replica is named twice", "replicas", std::to_string(replicas.size()) + " entries",
                    "each replica once", "remove the repeated entries");
  }
}

// A NIC is held back as a whole, and by what it can see.
void check_injection(const RunConfig& config) {
  if (!config.controls_injection()) return;
  if (config.network.host.receive == Receive::OnArrival) {
    throw UserError("injection control works in the NIC, chunk by chunk", "network.host.receive", "on-arrival",
                    "in-call", "choose in-call, or leave injection out");
  }
  std::map<std::uint32_t, std::size_t> owner;
  for (std::size_t i = 0; i < config.jobs.size(); ++i) {
    const JobConfig& job = config.jobs[i];
    const std::string place = "jobs[" + std::to_string(i) + "].injection";
    if (job.injection.kind == InjectionKind::Aimd && config.network.flow_control == FlowControl::None) {
      throw UserError("there are no stalls for the control to follow", place, "aimd without flow control", "static",
                      "set network.flow_control to credits, or choose a static rate");
    }
    for (std::uint32_t node = 0; node < job.nodes; ++node) {
      const std::uint32_t host = job.hosts.empty() ? node : job.hosts[node];
      const auto [found, fresh] = owner.emplace(host, i);
      const JobConfig& other = config.jobs[found->second];
      const bool held = job.injection.kind != InjectionKind::None || other.injection.kind != InjectionKind::None;
      if (!fresh && held) {
        throw UserError("a job whose injection is controlled shares a node", place,
                        "node " + std::to_string(host) + " of the jobs " + other.name + " and " + job.name,
                        "nodes of its own", "give the jobs different hosts");
      }
    }
  }
}

void check_jobs(const RunConfig& config) {
  if (config.jobs.size() > kMostJobs) {
    throw UserError("there are too many jobs", "jobs", std::to_string(config.jobs.size()),
                    "at most " + std::to_string(kMostJobs), "put jobs together");
  }
  if (std::all_of(config.jobs.begin(), config.jobs.end(), [](const JobConfig& job) { return job.background; })) {
    throw UserError("no job would ever end", "jobs", std::to_string(config.jobs.size()) + " background jobs",
                    "at least one job with background false", "add the job that is to be measured");
  }
  std::uint64_t ranks = 0;
  for (std::size_t i = 0; i < config.jobs.size(); ++i) {
    check_job(config.jobs[i], "jobs[" + std::to_string(i) + "]", config.network.room(),
              config.network.topology->kind());
    ranks += config.jobs[i].ranks();
  }
  if (ranks > static_cast<std::uint64_t>(kMostRanks)) {
    throw UserError("there are too many ranks", "jobs", std::to_string(ranks), "at most 2147483647 ranks in all",
                    "lower nodes or ranks_per_node of the jobs");
  }
}

}  // namespace

const LinkConfig& NetworkConfig::link_of_class(const std::string& name) const {
  const auto found = link_classes.find(name);
  return found == link_classes.end() ? link : found->second;
}

BufferConfig NetworkConfig::buffers() const {
  double rate = 0;
  double latency = 0;
  for (const std::string& name : topology->link_classes()) {
    const LinkConfig& of_class = link_of_class(name);
    const bool to_host = name.starts_with("host-");
    rate = std::max(rate, to_host ? std::min(of_class.bandwidth_Bps, host.nic_bandwidth_Bps) : of_class.bandwidth_Bps);
    latency = std::max(latency, of_class.latency_s);
  }
  constexpr std::uint64_t kSpareChunks = 128;
  const double round_trip = 2 * (latency + switch_latency_s);
  const double flying = std::ceil(2 * rate * round_trip / static_cast<double>(chunk_bytes));
  const std::uint64_t derived = (static_cast<std::uint64_t>(flying) + kSpareChunks) * chunk_bytes;
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
  nlohmann::json file;
  try {
    file = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError("the run file is not JSON", "byte " + std::to_string(error.byte), error.what(), "JSON",
                    "mend the file at this place");
  }
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
    config.counters = CountersConfig{counters.positive("interval_s"), per == "link"};
    counters.finish();
  }
  if (object.has("seed")) config.seed = static_cast<std::uint64_t>(object.integer("seed", 0));
  if (object.has("replicas")) {
    config.replicas.clear();
    for (const auto replica : object.integers("replicas", 0, kMost32)) {
      config.replicas.push_back(static_cast<std::uint32_t>(replica));
    }
  }
  object.finish();
  check_jobs(config);
  check_injection(config);
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

}  // namespace manynode::fast
