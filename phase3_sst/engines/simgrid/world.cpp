#include "world.hpp"

#include <algorithm>
#include <numeric>

#include <smpi/smpi.h>

#include "end_of_time.hpp"
#include "manynode/error_report.hpp"
#include "rank.hpp"
#include "rank_classes.hpp"
#include "simulation_error.hpp"

namespace manynode::smpi_engine {

namespace {

namespace s4u = ::simgrid::s4u;

// A readable number of lines; the first ranks usually show the cause.
constexpr std::size_t kMostDetails = 10;

}  // namespace

World::World(const std::vector<network::Program>& programs, const network::RunConfig& config, std::uint32_t replica,
             Machine& machine, const Outlet& outlet)
    : config_(config), machine_(machine), outlet_(outlet), jobs_(config.jobs.size()) {
  const network::Topology& topology = *config.network.topology;
  result_.replica = replica;
  result_.jobs.resize(jobs_.size());
  result_.links.resize(topology.links());
  for (network::LinkId link = 0; link < topology.links(); ++link) {
    result_.links[link].link_class = topology.link_class(link);
  }
  result_.queue_max_bytes.resize(topology.links());
  result_.class_uses.resize(jobs_.size() * topology.link_classes().size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    job.config = &config.jobs[i];
    job.application = programs[i].application.get();
    job.instance = "job-" + std::to_string(i);
    job.phases = job.application->phases().size();
    if (programs[i].profile) {
      // Each job has its own draws, as in the engine fast.
      job.timing.emplace(network::timing_model(*job.config, *programs[i].profile, config.seed + i, replica));
    }
    for (std::uint32_t rank = 0; rank < job.config->ranks(); ++rank) {
      job.nics.push_back(nic_of_rank(config, *job.config, rank));
    }
    result_.jobs[i].ranks.resize(job.config->ranks());
    if (!job.config->background) foreground_ += job.config->ranks();
  }
}

World::~World() = default;

void World::start_ranks() {
  std::uint32_t ranks = 0;
  for (const Job& job : jobs_) ranks += job.config->ranks();
  all_there_ = s4u::Barrier::create(ranks);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto size = static_cast<int>(jobs_[i].config->ranks());
    SMPI_app_instance_register(jobs_[i].instance.c_str(), nullptr, size);
    for (int index = 0; index < size; ++index) {
      Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>(*this, i, index, size));
      s4u::Actor::create("rank", machine_.host(jobs_[i].nics[static_cast<std::size_t>(index)]), [this, &rank] {
        try {
          rank.run();
        } catch (const std::exception& error) {
          outlet_.error(error);
        }
      });
    }
  }
}

void World::meet() {
  all_there_->wait();
  beginning_s_ = s4u::Engine::get_clock();
}

network::Picoseconds World::now() const {
  const double now_s = s4u::Engine::get_clock() - beginning_s_;
  if (!(now_s <= network::kEndOfTime_s)) {
    const auto& jobs = result_.jobs;
    const auto bytes = std::accumulate(jobs.begin(), jobs.end(), 0.0, [](double sum, const network::JobResult& job) {
      return sum + static_cast<double>(job.bytes);
    });
    const auto messages = static_cast<double>(std::max<std::uint64_t>(1, result_.messages()));
    throw network::end_of_time_error(config_, "after " + network::rounded(now_s) + " s", {}, bytes / messages);
  }
  return network::to_picoseconds(now_s);
}

void World::sent(std::size_t job, std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
  const auto& nics = jobs_[job].nics;
  if (bytes > config_.network.host.eager_limit_bytes) machine_.announce(nics[source], nics[destination], bytes);
  count(job, source, destination, bytes);
}

void World::count(std::size_t job, std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
  ++result_.jobs[job].messages;
  result_.jobs[job].bytes += bytes;
  const std::uint32_t from = jobs_[job].nics[source];
  const std::uint32_t to = jobs_[job].nics[destination];
  if (machine_.node_of_nic(from) == machine_.node_of_nic(to)) return;
  const std::size_t classes = result_.class_uses.size() / jobs_.size();
  for (const auto link : machine_.routes().between(from, to)) {
    network::LinkUse& use = result_.links[link];
    auto& class_use = result_.class_uses[job * classes + use.link_class];
    const auto busy = network::to_picoseconds(static_cast<double>(bytes) / machine_.bandwidth_Bps(link));
    use.bytes += bytes;
    if (busy > network::kLongestStep) {
      const network::KeyValue slowest = network::slowest_bandwidth(config_.network);
      throw UserError("a message is too long for the engine", slowest.key,
                      std::to_string(bytes) + " bytes, " + network::rounded(slowest.value) + " B/s",
                      "a message takes at most " + network::rounded(network::kLongestStep_s) + " s on a link",
                      "raise " + slowest.key + ", or send shorter messages");
    }
    use.busy = network::later(use.busy, busy);
    ++use.chunks;
    class_use.bytes += bytes;
    class_use.busy += busy;
    ++class_use.chunks;
  }
}

void World::step_ended(std::size_t job, std::size_t step) {
  auto& ends = result_.jobs[job].iteration_end;
  auto& ranks = jobs_[job].ranks_in_step;
  if (step >= ends.size()) {
    ends.resize(step + 1, 0);
    ranks.resize(step + 1, 0);
  }
  ends[step] = now();  // time does not go back
  ++ranks[step];
}

void World::finished(std::size_t job) {
  result_.jobs[job].makespan = now();
  ++jobs_[job].finished;
  if (++finished_ == foreground_) finish();
}

void World::finish() {
  result_.makespan = now();
  std::vector<std::string> left;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].config->background) {
      // Stopped in the middle of its messages.
      result_.jobs[i].makespan = result_.makespan;
      continue;
    }
    for (const auto& line : envelopes_.left(i, kMostDetails)) left.push_back(line);
  }
  for (const auto& rank : ranks_) {
    if (!rank->in_background()) rank->describe_left(left, kMostDetails);
  }
  if (!left.empty()) {
    left.resize(std::min(left.size(), kMostDetails));
    outlet_.error(
        network::SimulationError("all ranks finished, but messages or receives are left without a partner", left,
                                 "give each send of the skeleton its receive, with the same communicator and a "
                                 "tag that fits"));
  }
  if (outlet_.progress) report();
  outlet_.result(result_);
}

void World::stand_still() {
  const std::uint32_t unfinished = foreground_ - finished_;
  std::vector<std::string> details;
  for (const auto& rank : ranks_) {
    if (details.size() < kMostDetails && rank->waits() && !rank->in_background()) {
      details.push_back(rank->describe_wait());
    }
  }
  if (unfinished > details.size()) {
    details.push_back("... and " + std::to_string(unfinished - details.size()) + " more ranks");
  }
  const std::size_t most = details.size() + kMostDetails;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].config->background) continue;
    for (const auto& line : envelopes_.left(i, most - details.size())) details.push_back(line);
  }
  outlet_.error(network::SimulationError(
      "the simulation ended with " + std::to_string(unfinished) + " unfinished ranks", details,
      "look in the skeleton for a receive without its send, or for blocking sends above the eager limit that wait for "
      "each other"));
}

std::string World::rank_name(std::size_t job, int rank) const {
  const std::string name = "rank " + std::to_string(rank);
  return jobs_.size() == 1 ? name : name + " of job " + jobs_[job].config->name;
}

void World::tick() {
  ++result_.events;
  constexpr std::uint64_t kLookEvery = 1024;
  if (!outlet_.progress || result_.events % kLookEvery != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_report_) return;
  next_report_ = now + std::chrono::seconds(1);
  report();
}

void World::report() const {
  std::size_t job = 0;
  while (jobs_[job].config->background) ++job;
  const auto& done = jobs_[job].ranks_in_step;
  std::uint32_t steps = 0;
  while (steps < done.size() && done[steps] == result_.jobs[job].ranks.size()) ++steps;
  network::ProgressReport report;
  report.replica = result_.replica;
  report.simulated_s = network::to_seconds(now());
  report.events = result_.events;
  report.messages = result_.messages();
  report.finished_ranks = finished_;
  report.ranks = foreground_;
  report.steps = steps;
  report.steps_in_all = jobs_[job].config->iterations_limit;
  outlet_.progress(report);
}

}  // namespace manynode::smpi_engine
