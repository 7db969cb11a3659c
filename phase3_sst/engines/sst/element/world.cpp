#include "world.hpp"

#include <algorithm>
#include <cstdio>

#include "failure.hpp"
#include "parts.hpp"
#include "rank_classes.hpp"
#include "rank_program.hpp"

namespace manynode::sst_element {

namespace {

network::Program load(const network::JobConfig& job) {
  network::Program program;
  program.application = make_application(job.application, job.parameters, static_cast<int>(job.ranks()));
  if (!job.timing_profile) return program;
  try {
    program.profile = read_timing_profile(*job.timing_profile, program.application->phases(), job.missing_is_zero);
  } catch (const UserError& error) {
    throw InputError(error);
  } catch (const std::invalid_argument& error) {
    throw InputError(UserError(error.what()));
  }
  return program;
}

}  // namespace

World::World(Settings settings, network::RunConfig config, std::vector<network::Program> programs)
    : settings_(std::move(settings)),
      config_(std::move(config)),
      overhead_receive_(config_.network.host.overhead_recv),
      loaded_(std::move(programs)),
      jobs_(config_.jobs.size()),
      steps_(config_.jobs.size()),
      progress_(settings_.process == 0) {
  if (config_.replicas.size() != 1) {
    throw UserError("the engine sst simulates one replica at a time", "replicas",
                    std::to_string(config_.replicas.size()) + " entries", "one entry",
                    "give each replica a run file of its own");
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) prepare_job(i);
}

World::~World() = default;

std::unique_ptr<World> World::read(const Settings& settings) {
  network::RunConfig config = network::read_run_config(settings.run);
  std::vector<network::Program> programs;
  for (const network::JobConfig& job : config.jobs) programs.push_back(load(job));
  return std::make_unique<World>(settings, std::move(config), std::move(programs));
}

void World::prepare_job(std::size_t index) {
  Job& job = jobs_[index];
  const network::JobConfig& config = config_.jobs[index];
  job.config = &config;
  job.application = loaded_[index].application.get();
  job.phases = job.application->phases().size();
  job.all_steps = job.application->steps();
  if (config.iterations_limit) {
    job.all_steps = std::min<std::uint64_t>(*config.iterations_limit, job.all_steps.value_or(*config.iterations_limit));
  }
  if (job.application->one_sided()) check_one_sided(config);
  if (!loaded_[index].profile) return;
  // Each job has its own draws, as in the engine fast.
  job.timing.emplace(
      network::timing_model(config, *loaded_[index].profile, config_.seed + index, config_.replicas.front()));
}

network::Picoseconds World::owed(const Job& job, int receiver, int sender, std::uint64_t bytes) const {
  return sender >= 0 && copied(job, sender, receiver, bytes) ? overhead_receive_.of(bytes) : 0;
}

network::Picoseconds World::owed_remotely(const Job& job, int receiver, int sender, std::uint64_t bytes) const {
  if (!copied(job, sender, receiver, bytes)) return 0;
  const auto copy = network::ByteTime::of_bandwidth(config_.network.intranode.bandwidth_Bps);
  return overhead_receive_.of(bytes) + copy.of(bytes);
}

bool World::copied(const Job& job, int sender, int receiver, std::uint64_t bytes) const {
  if (settings_.own_collectives || bytes > config_.network.host.eager_limit_bytes) return false;
  const auto node = [&](int rank) { return job.config->own_node_of(static_cast<std::uint32_t>(rank)); };
  return node(receiver) == node(sender);
}

void World::check_one_sided(const network::JobConfig& config) const {
  if (settings_.own_collectives) {
    throw UserError("SST's own collectives exclude one-sided calls", "motif argument collectives", "sst", "expanded",
                    "ranks in SST's collectives answer no requests: choose simulate: sst: collectives: expanded");
  }
  if (settings_.processes > 1) {
    throw UserError("one-sided calls need SST in one process", "job " + config.name,
                    std::to_string(settings_.processes) + " processes", "1, with any number of threads",
                    "choose simulate: sst: processes: 1, or the engine fast");
  }
}

network::Picoseconds World::local_time(const Primitive& primitive) const {
  const network::HostConfig& host = config_.network.host;
  switch (primitive.kind) {
    case PrimitiveKind::ReduceLocal:
      return host.reduce_bandwidth_Bps.time(primitive.bytes);
    case PrimitiveKind::CopyLocal:
      return host.copy_bandwidth_Bps->time(primitive.bytes);
    case PrimitiveKind::FreshMemory:
      return host.fresh_bandwidth_Bps->time(primitive.bytes);
    case PrimitiveKind::CollectiveCall:
      return network::to_picoseconds(host.collective_call_s);
    default:
      return network::to_picoseconds(host.collective_step_s);
  }
}

std::shared_ptr<World> World::of_process(const Settings& settings) {
  static std::mutex mutex;
  static std::weak_ptr<World> only;
  const std::lock_guard lock(mutex);
  std::shared_ptr<World> world = only.lock();
  if (!world) {
    world = read(settings);
    only = world;
  }
  if (world->settings() != settings) {
    throw UserError("the motifs of one simulation name different runs", "motif arguments run, output, collectives",
                    settings.run + ", " + settings.output, world->settings().run + ", " + world->settings().output,
                    "give all motifs the same three arguments");
  }
  return world;
}

void World::join() {
  const std::lock_guard lock(mutex_);
  ++motifs_;
}

RankProgram& World::add(std::size_t job, int rank) {
  auto program = std::make_unique<RankProgram>(*this, job, rank);
  const std::lock_guard lock(mutex_);
  ++steps_[job].members;
  return *programs_.emplace_back(std::move(program));
}

void World::step_ended(std::size_t job, std::size_t step, network::Picoseconds now) {
  const std::lock_guard lock(mutex_);
  Steps& steps = steps_[job];
  if (step >= steps.end.size()) {
    steps.end.resize(step + 1, 0);
    steps.ranks.resize(step + 1, 0);
  }
  steps.end[step] = std::max(steps.end[step], now);
  ++steps.ranks[step];
}

std::uint64_t World::steps_done() const {
  std::size_t job = 0;
  while (job + 1 < jobs_.size() && (jobs_[job].config->background || steps_[job].members == 0)) ++job;
  std::uint64_t done = 0;
  while (done < steps_[job].ranks.size() && steps_[job].ranks[done] == steps_[job].members) ++done;
  return done;
}

void World::tick(network::Picoseconds now) {
  if (!progress_.due()) return;
  std::size_t job = 0;
  while (jobs_[job].config->background) ++job;
  std::uint64_t done = 0;
  {
    const std::lock_guard lock(mutex_);
    done = steps_done();
  }
  std::fprintf(stderr, "%s\n", progress_line(now, done, jobs_[job].all_steps).c_str());
  std::fflush(stderr);
}

void World::tell_expanded(const Call& call) {
  auto& told = told_[static_cast<std::size_t>(call.kind) + (call.nonblocking() ? kCallKinds : 0)];
  if (settings_.process != 0 || told.load(std::memory_order_relaxed) || told.exchange(true)) return;
  std::fprintf(stderr, "manynode-note %s: SST offers motifs no such collective; it is sent as messages\n",
               call_name(call).c_str());
}

void World::rank_finished() {
  {
    const std::lock_guard lock(mutex_);
    if (++finished_ < motifs_) return;
  }
  write_parts();
}

void World::write_parts() {
  const std::lock_guard lock(mutex_);
  if (written_) return;
  written_ = true;
  Programs programs;
  for (const auto& program : programs_) programs.push_back(program.get());
  std::sort(programs.begin(), programs.end(), [](const RankProgram* a, const RankProgram* b) {
    return std::pair(a->job(), a->rank()) < std::pair(b->job(), b->rank());
  });
  std::vector<std::vector<network::Picoseconds>> ends;
  for (const Steps& steps : steps_) ends.push_back(steps.end);
  const std::string process = std::to_string(settings_.process);
  write_file(settings_.output, "ranks-" + process + ".csv", ranks_csv(programs));
  write_file(settings_.output, "part-" + process + ".json", part_json(programs, ends, *this));
}

}  // namespace manynode::sst_element
