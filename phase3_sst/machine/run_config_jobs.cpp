// Reads the jobs of a run file and checks them against the machine and each other.
#include "run_config_jobs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "manynode/error_report.hpp"
#include "manynode/parameter_json.hpp"
#include "sim_time.hpp"

namespace manynode::network {

namespace {

constexpr std::int64_t kMostRanks = 0x7fffffff;
constexpr std::int64_t kMost32 = 0xffffffff;
constexpr std::size_t kMostJobs = 32;
constexpr double kLeastWindow = 1e-9;

Parameters read_parameters(StrictObject application) {
  std::map<std::string, ParameterValue> values;
  if (application.has("parameters")) {
    StrictObject parameters = application.object("parameters");
    for (const auto& [name, value] : application.value("parameters").items()) {
      const std::optional<ParameterValue> known = parameter_value(value);
      if (!known) parameters.refuse(name, "a number, a text, true or false");
      values[name] = *known;
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
  if (job.rank_order == RankOrder::Listed) {
    const std::set<std::uint32_t> slots(job.slots.begin(), job.slots.end());
    if (job.slots.size() != job.ranks() || slots.size() != job.slots.size() || *slots.rbegin() >= job.ranks()) {
      throw UserError(
          "the list of slots does not fit the job", place + ".slots",
          std::to_string(job.slots.size()) + " entries, " + std::to_string(slots.size()) + " of them different",
          "each of 0 to " + std::to_string(job.ranks() - 1) + " once", "give each rank a slot of its own");
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
    injection.window_s = object.number_between("window_s", kLeastWindow, kLongestStep_s);
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

// Injection control acts on a whole NIC, with the NIC's local information.
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

}  // namespace

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
    if (order != "block" && order != "cyclic" && order != "listed") {
      object.refuse("rank_order", "block, cyclic, listed");
    }
    job.rank_order = order == "block" ? RankOrder::Block : order == "cyclic" ? RankOrder::Cyclic : RankOrder::Listed;
  }
  if (object.has("slots")) {
    if (job.rank_order != RankOrder::Listed) object.refuse("slots", "with rank_order listed only");
    for (const auto slot : object.integers("slots", 0, kMostRanks)) {
      job.slots.push_back(static_cast<std::uint32_t>(slot));
    }
  }
  if (object.has("start_s")) job.start_s = object.number_between("start_s", 0, kEndOfTime_s);
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
  check_injection(config);
}

}  // namespace manynode::network
