#include "replica.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "fetch_ahead.hpp"
#include "manynode/error_report.hpp"
#include "rank_classes.hpp"
#include "simulation_error.hpp"

namespace manynode::network {

namespace {

Operation operation_of(PrimitiveKind kind) {
  switch (kind) {
    case PrimitiveKind::Compute:
    case PrimitiveKind::ReduceLocal:
    case PrimitiveKind::CopyLocal:
    case PrimitiveKind::FreshMemory:
    case PrimitiveKind::CollectiveCall:
    case PrimitiveKind::CollectiveStep:
      return Operation::Compute;
    case PrimitiveKind::Isend:
    case PrimitiveKind::Remote:
      return Operation::Send;
    case PrimitiveKind::Irecv:
      return Operation::Post;
    case PrimitiveKind::Wait:
      break;
  }
  return Operation::None;
}

// For other calls, each primitive has its own.
Operation operation_of(CallKind kind) {
  switch (kind) {
    case CallKind::Compute:
      return Operation::Compute;
    case CallKind::Isend:
      return Operation::Send;
    case CallKind::Irecv:
      return Operation::Post;
    default:
      return Operation::None;
  }
}

}  // namespace

Replica::Replica(const std::vector<Program>& programs, const RunConfig& config, std::uint32_t replica)
    : config_(config),
      overhead_send_(config.network.host.overhead_send),
      overhead_receive_(config.network.host.overhead_recv),
      collective_call_(to_picoseconds(config.network.host.collective_call_s)),
      collective_step_(to_picoseconds(config.network.host.collective_step_s)),
      network_(config.network, config.jobs.size(), config.seed + replica, events_),
      steps_(config.network.host.eager_limit_bytes),
      ranks_(config.ranks()),
      most_bytes_of_job_(network_.most_bytes_in_all() / config.jobs.size()),
      most_unchecked_bytes_(
          std::min({network_.most_unchecked_bytes(), overhead_send_.most_bytes(), overhead_receive_.most_bytes()})),
      on_arrival_(config.network.host.receive == Receive::OnArrival),
      processors_(on_arrival_ ? config.ranks() : 0) {
  result_.replica = replica;
  result_.jobs.resize(config.jobs.size());
  jobs_.reserve(config.jobs.size());
  mailboxes_.reserve(config.ranks());
  for (std::size_t i = 0; i < config.jobs.size(); ++i) add_job(programs[i], config.jobs[i], replica);
  network_.control_injection(config);
}

void Replica::add_job(const Program& program, const JobConfig& config, std::uint32_t replica) {
  const auto number = static_cast<std::uint32_t>(jobs_.size());
  Job& job = jobs_.emplace_back();
  job.config = &config;
  job.application = program.application.get();
  job.first = static_cast<std::uint32_t>(ranks_.size());
  job.size = config.ranks();
  job.phases = job.application->phases().size();
  if (program.profile) {
    // Each job has its own draws; those of the first job do not depend on the others.
    job.timing.emplace(timing_model(config, *program.profile, config_.seed + number, replica));
    job.draws.resize(std::size_t{job.size} * job.phases, 0);
  }
  result_.jobs[number].ranks.resize(job.size);
  if (!config.background) foreground_ += job.size;
  const std::uint32_t rails = config_.network.host.rails;
  for (std::uint32_t index = 0; index < job.size; ++index) {
    const int rank = static_cast<int>(index);
    const int size = static_cast<int>(job.size);
    Rank& state = ranks_.emplace_back(rank, size, job.application->make(rank, size), config_.collectives,
                                      config_.network.host.local_work(), config.block_ranks_per_node());
    nodes_.push_back(config.node_of(index));
    rails_.push_back(static_cast<std::uint8_t>(config.number_on_node(index) % rails));
    state.job = number;
    mailboxes_.emplace_back().job = number;
    state.clock = to_picoseconds(config.start_s);
    state.call_began = state.clock;
    state.program_began = state.clock;
  }
}

ReplicaResult Replica::run(const ProgressSink& progress) {
  try {
    return run_to_end(progress);
  } catch (const EndOfTime&) {
    refuse_end_of_time();
  }
}

ReplicaResult Replica::run_to_end(const ProgressSink& progress) {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (on_arrival_) {
      plan_start(rank);
    } else {
      events_.push(Event{.subject = rank}, ranks_[rank].clock);
    }
  }
  std::optional<TimeSeries> series;
  if (config_.counters) series.emplace(*config_.counters, network_);
  const bool background = foreground_ < ranks_.size();
  constexpr std::uint64_t kReportEvery = 1u << 20;
  while (!events_.empty()) {
    const Event event = events_.pop();
    ++result_.events;
    if (series && event.time >= series->next()) series->close(event.time);
    look_ahead();
    if (event.kind == EventKind::Resume) {
      if (on_arrival_) {
        take_turn(event);
      } else {
        advance(event.subject);
      }
    } else {
      deliver(network_.handle(event));
    }
    if (progress && result_.events % kReportEvery == 0) report(progress);
    if (background && finished_ == foreground_) break;
  }
  check_end();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (!jobs_[i].config->background) result_.makespan = std::max(result_.makespan, result_.jobs[i].makespan);
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].config->background) result_.jobs[i].makespan = result_.makespan;
  }
  if (series) {
    series->finish(std::max(result_.makespan, events_.now()));
    result_.series = series->take();
  }
  result_.links = network_.links();
  for (LinkId link = 0; link < result_.links.size(); ++link) {
    const LinkUse& use = result_.links[link];
    result_.queue_max_bytes.push_back(network_.bytes_in(use.longest_wait, use.link_class));
    result_.stalls.push_back(network_.stalls(link, events_.now()));
  }
  result_.class_uses = network_.class_uses();
  result_.injection = network_.injection_uses();
  if (progress) report(progress);
  return std::move(result_);
}

// Memory is slow. The data of an arriving message is prefetched while other events are handled. It takes several steps,
// because each step needs the previous one: the message, its receiver, the matching receive, the receiver's next
// operation. The first steps also run for events without a message: a useless prefetch costs less than an unpredictable
// branch.
void Replica::look_ahead() {
  constexpr std::uint32_t kFar = 60;
  constexpr std::uint32_t kMiddle = 40;
  constexpr std::uint32_t kNear = 20;
  constexpr std::uint32_t kSoon = 10;
  constexpr std::uint32_t kNext = 4;
  const auto arriving = [&](std::uint32_t ahead) -> std::uint32_t& {
    return arriving_[(result_.events + ahead) % arriving_.size()];
  };
  const Pool<Message>& messages = network_.messages();
  const Event* far = events_.upcoming(kFar);
  arriving(kFar) = far == nullptr ? Network::kNoMessage : network_.arriving(*far);
  fetch_ahead(&messages[arriving(kFar)]);
  if (const Event* event = events_.upcoming(kMiddle)) network_.fetch_link(*event);
  mailboxes_[messages[arriving(kMiddle)].destination].fetch();
  if (arriving(kNear) != Network::kNoMessage) prefetch_receive(messages[arriving(kNear)]);
  if (arriving(kSoon) != Network::kNoMessage) prefetch_receiver(messages[arriving(kSoon)].destination);
  if (arriving(kNext) != Network::kNoMessage) {
    const std::uint32_t rank = messages[arriving(kNext)].destination;
    if (mailboxes_[rank].awaits == 1) {
      ranks_[rank].fetch_primitives();
      mailboxes_[rank].unexpected.fetch();
    }
  }
}

void Replica::report(const ProgressSink& progress) const {
  std::size_t job = 0;
  while (jobs_[job].config->background) ++job;
  const auto& done = jobs_[job].ranks_in_step;
  std::uint32_t steps = 0;
  while (steps < done.size() && done[steps] == jobs_[job].size) ++steps;
  ProgressReport report;
  report.replica = result_.replica;
  report.simulated_s = to_seconds(events_.now());
  report.events = result_.events;
  report.messages = result_.messages();
  report.finished_ranks = finished_;
  report.ranks = foreground_;
  report.steps = steps;
  report.steps_in_all = jobs_[job].application->steps();
  if (const auto& limit = jobs_[job].config->iterations_limit) {
    report.steps_in_all = std::min<std::uint64_t>(*limit, report.steps_in_all.value_or(*limit));
  }
  progress(report);
}

void Replica::advance(std::uint32_t index) {
  Rank& rank = ranks_[index];
  for (;;) {
    if (rank.next_primitive < rank.primitives.size()) {
      const Primitive& primitive = rank.primitives[rank.next_primitive];
      if (on_arrival_ && !its_turn(rank, index, operation_of(primitive.kind))) return;
      if (!execute(rank, index, primitive)) return;
      ++rank.next_primitive;
      continue;
    }
    if (!rank.in_step || rank.next_call == rank.step->calls.calls.size()) {
      if (!next_step(rank, index)) return;
      continue;
    }
    const Call& call = rank.step->calls.calls[rank.next_call];
    const bool waits = is_wait(call.kind);
    if (!rank.in_call) {
      if (on_arrival_ && !its_turn(rank, index, operation_of(call.kind))) return;
      rank.in_call = true;
      rank.call_bytes = 0;
      if (!start(rank, index, call)) return;
      if (rank.next_primitive < rank.primitives.size()) continue;
    } else if (waits && !start(rank, index, call)) {
      return;
    }
    OperationUse& use =
        result_.jobs[rank.job].ranks[index - jobs_[rank.job].first][static_cast<std::size_t>(call.kind)];
    // Includes the processor's work on messages since the previous call.
    use.time += rank.clock - rank.call_began;
    rank.call_began = rank.clock;
    use.bytes += rank.call_bytes;
    ++use.calls;
    rank.in_call = false;
    ++rank.next_call;
  }
}

// The most frequent operations are executed directly; other calls become primitives. A wait that first moves pending
// collectives is started again after them.
bool Replica::start(Rank& rank, std::uint32_t index, const Call& call) {
  switch (call.kind) {
    case CallKind::Compute:
      compute(rank, index, call.first, call.bytes);
      return true;
    case CallKind::Isend:
    case CallKind::Irecv:
      start_message(rank, index, call);
      return true;
    case CallKind::Wait:
    case CallKind::Waitall:
    case CallKind::Waitany:
    case CallKind::Waitsome:
      if (rank.pending_collectives) [[unlikely]] {
        rank.pending_collectives = false;
        rank.primitives.clear();
        rank.next_primitive = 0;
        rank.lowering.move_pending(call.kind, rank.primitives);
        return true;
      }
      return wait(rank, index, rank.step->calls.waited_for(call), call.kind);
    default: {
      if (call.starts_nothing()) return true;
      Call absolute = call;
      const auto own = static_cast<std::int32_t>(index - jobs_[rank.job].first);
      absolute.peer = absolute_peer(call.peer, own);
      absolute.peer2 = absolute_peer(call.peer2, own);
      if (is_collective(call.kind) && call.nonblocking()) {
        rank.lowering.start(absolute, rank.step->calls);
        rank.pending_collectives = rank.lowering.has_pending();
        return true;
      }
      rank.primitives.clear();
      rank.next_primitive = 0;
      rank.lowering.lower(absolute, rank.step->calls, rank.primitives);
      rank.pending_collectives = rank.lowering.has_pending();  // they move with this call if it blocks
      return true;
    }
  }
}

bool Replica::next_step(Rank& rank, std::uint32_t index) {
  const Job& job = jobs_[rank.job];
  if (rank.in_step) end_step(rank);
  rank.in_step = false;
  if (rank.last_step && !job.config->background) {
    rank.finished = true;
    ++finished_;
    JobResult& result = result_.jobs[rank.job];
    result.makespan = std::max(result.makespan, rank.clock);
    return false;
  }
  if (rank.clock > events_.now() && !on_arrival_) {
    events_.push(Event{.subject = index}, rank.clock);
    return false;
  }
  const auto own = static_cast<int>(index - job.first);
  const auto size = static_cast<int>(job.size);
  if (rank.last_step) {
    if (rank.clock == rank.program_began) {
      throw SimulationError("a job in the background takes no time", {"job " + job.config->name},
                            "give it messages to send, or a timing profile");
    }
    rank.program_began = rank.clock;
    rank.skeleton = job.application->make(own, size);
    rank.communicators = Communicators(own, size);
  }
  if (!rank.skeleton->repeat()) {
    Mpi mpi(own, size, steps_.fresh(), rank.communicators);
    rank.last_step = !rank.skeleton->step(mpi);
    rank.step = steps_.keep(own, rank.step);
  }
  rank.in_step = true;
  rank.next_call = 0;
  ++rank.steps;
  const auto& limit = job.config->iterations_limit;
  if (limit && !job.config->background && rank.steps >= *limit) rank.last_step = true;
  return true;
}

void Replica::end_step(Rank& rank) {
  Job& job = jobs_[rank.job];
  if (job.config->background) return;
  auto& ends = result_.jobs[rank.job].iteration_end;
  const std::size_t step = rank.steps - 1;
  if (step >= ends.size()) {
    ends.resize(step + 1, 0);
    job.ranks_in_step.resize(step + 1, 0);
  }
  ends[step] = std::max(ends[step], rank.clock);
  ++job.ranks_in_step[step];
}

bool Replica::execute(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  switch (primitive.kind) {
    case PrimitiveKind::Compute:
      compute(rank, index, primitive.phase, primitive.bytes);
      return true;
    case PrimitiveKind::ReduceLocal:
    case PrimitiveKind::CopyLocal:
    case PrimitiveKind::FreshMemory:
    case PrimitiveKind::CollectiveCall:
    case PrimitiveKind::CollectiveStep:
      work_locally(rank, index, primitive);
      return true;
    case PrimitiveKind::Isend:
      start_send(rank, index, primitive, primitive.request != kForgotten);
      return true;
    case PrimitiveKind::Irecv:
      start_receive(rank, index, primitive);
      return true;
    case PrimitiveKind::Wait:
      return wait_for_primitives(rank, index);
    case PrimitiveKind::Remote:
      start_remote(rank, index, primitive);
      return true;
  }
  return true;
}

void Replica::compute(Rank& rank, std::uint32_t index, std::uint32_t phase, std::uint64_t pause) {
  if (phase == kPause) {
    spend(rank, index, static_cast<Picoseconds>(pause), Spent::Pause, pause);
  } else {
    spend(rank, index, compute_time(rank, index, phase), Spent::Compute, phase);
  }
}

Picoseconds Replica::compute_time(const Rank& rank, std::uint32_t index, std::uint32_t phase) {
  Job& job = jobs_[rank.job];
  if (!job.timing) return 0;
  const std::uint32_t own = index - job.first;
  const std::uint32_t draw = job.draws[own * job.phases + phase]++;
  return to_picoseconds(job.timing->draw(own, phase, draw));
}

ReplicaResult simulate(const std::vector<Program>& programs, const RunConfig& config, std::uint32_t replica,
                       const ProgressSink& progress) {
  return Replica(programs, config, replica).run(progress);
}

}  // namespace manynode::network
