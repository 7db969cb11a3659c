// The execution of a rank: its calls and steps, its accounts, its current operation.
#include "rank_program.hpp"

#include <algorithm>
#include <string>

#include "manynode/error_report.hpp"
#include "message_tags.hpp"

namespace manynode::sst_element {

RankProgram::RankProgram(World& world, std::size_t job, int rank)
    : world_(world),
      shared_(world.job(job)),
      job_(job),
      rank_(rank),
      size_(static_cast<int>(shared_.config->ranks())),
      skeleton_(shared_.application->make(rank_, size_)),
      communicators_(rank_, size_),
      lowering_(rank_, world.config().collectives, communicators_, world.config().network.host.local_work(),
                shared_.config->block_ranks_per_node()),
      draws_(shared_.timing ? shared_.phases : 0, 0) {
  if (!shared_.application->one_sided()) return;
  one_sided_ = std::make_unique<OneSided>(world.remote_operations(), job, to_ember(rank),
                                          world.config().network.host.eager_limit_bytes);
}

void RankProgram::begin(network::Picoseconds now) {
  begun_ = true;
  clock_ = now;
  call_began_ = now;
  program_began_ = now;
}

bool RankProgram::advance(network::Picoseconds now, EventSink& sink) {
  if (!shared_.config->background) world_.tick(now);
  clock_ = now;
  copied_sends_.looked();
  if (one_sided_) {
    if (!opened_) {
      opened_ = true;
      one_sided_->open(sink);
      return true;
    }
    if (one_sided_->go_on(sink)) return true;
  }
  if (in_call_) {
    if (next_primitive_ < primitives_.size()) {
      more_primitives(sink);
      return true;
    }
    if (moves_pending_) {
      moves_pending_ = false;
      if (start(calls_.calls[next_call_], sink)) return true;
    }
    end_call(now);
  }
  // Compute phases advance this when they happen.
  call_began_ = now;
  bool computes = false;
  for (;;) {
    if (next_call_ == calls_.calls.size()) {
      if (computes) return true;  // the step ends when they have
      if (!next_step(now)) return false;
      if (world_.settings().own_collectives && make_groups(sink)) return true;
      continue;
    }
    const Call& call = calls_.calls[next_call_];
    if (call.kind == CallKind::Compute) {
      ++uses_[static_cast<std::size_t>(CallKind::Compute)].calls;
      ++next_call_;
      if (call.first == kPause) {
        sink.delay(take(static_cast<network::Picoseconds>(call.bytes)));
        computes = true;
      } else if (shared_.timing) {
        sink.compute(call.first);
        computes = true;
      }
      continue;
    }
    call_bytes_ = 0;
    in_call_ = true;
    if (start(call, sink)) return true;
    // Nothing to do, as for a message to MPI_PROC_NULL.
    end_call(call_began_);
  }
}

std::uint64_t RankProgram::draw(std::uint32_t phase) {
  const std::uint32_t number = draws_[phase]++;
  const double seconds = shared_.timing->draw(static_cast<std::uint32_t>(rank_), phase, number);
  const network::Picoseconds duration = network::to_picoseconds(seconds);
  if (duration > network::kEndOfTime - call_began_) {
    const std::string name = shared_.application->phases()[phase];
    throw UserError(
        "a compute phase takes too long", "timing profile, phase " + name,
        "rank " + std::to_string(rank_) + " of job " + shared_.config->name + ": " + std::to_string(seconds) + " s",
        "a run of at most " + std::to_string(network::kEndOfTime_s) + " s",
        "correct the times of this phase, or simulate.slow_node.factor");
  }
  return take(duration);
}

std::uint64_t RankProgram::take(network::Picoseconds duration) {
  const std::uint64_t nanoseconds = compute_time_.of(duration);
  const auto time = static_cast<network::Picoseconds>(nanoseconds) * 1000;
  call_began_ = network::later(call_began_, time);
  uses_[static_cast<std::size_t>(CallKind::Compute)].time += time;
  return nanoseconds;
}

void RankProgram::end_call(network::Picoseconds now) {
  network::OperationUse& use = uses_[static_cast<std::size_t>(calls_.calls[next_call_].kind)];
  use.time += now - call_began_;
  use.bytes += call_bytes_;
  ++use.calls;
  ++next_call_;
  in_call_ = false;
}

bool RankProgram::next_step(network::Picoseconds now) {
  const network::JobConfig& config = *shared_.config;
  if (step_open_) {
    step_open_ = false;
    if (!config.background) world_.step_ended(job_, steps_ - 1, now);
  }
  calls_.clear();
  requests_.clear();
  next_call_ = 0;
  if (last_step_ && !config.background) {
    finished_ = true;
    skeleton_.reset();
    calls_ = {};
    primitives_ = {};
    lowered_ = {};
    return false;
  }
  if (last_step_) {
    if (now == program_began_) {
      throw UserError("a job in the background takes no time", "job " + config.name, "", "",
                      "give it messages to send, or a timing profile");
    }
    program_began_ = now;
    skeleton_ = shared_.application->make(rank_, size_);
    communicators_ = Communicators(rank_, size_);
  }
  Mpi mpi(rank_, size_, calls_, communicators_);
  last_step_ = !skeleton_->step(mpi);
  ++steps_;
  step_open_ = true;
  if (config.iterations_limit && !config.background && steps_ >= *config.iterations_limit) last_step_ = true;
  return true;
}

void RankProgram::count_message(std::uint64_t bytes) {
  ++messages_;
  bytes_ += bytes;
  call_bytes_ += bytes;
}

std::uint32_t RankProgram::to_ember(int world_rank) const {
  if (world_rank == kAnySource) return kAnyEmberRank;
  return ember_rank(*shared_.config, static_cast<std::uint32_t>(world_rank));
}

std::uint32_t RankProgram::to_ember(Communicator communicator, int rank) const {
  return to_ember(communicators_.world_rank(communicator, rank));
}

RankProgram::Present RankProgram::present() const {
  Present present;
  present.since = call_began_;
  if (!begun_ || next_call_ >= calls_.calls.size()) {
    present.operation = begun_ ? "compute" : "start";
    return present;
  }
  const Call* call = &calls_.calls[next_call_];
  present.operation = call_name(call->kind);
  if (is_wait(call->kind)) {
    // With several, the first receive, since sends mostly complete on their own.
    const auto waits = calls_.waited_for(*call);
    const Call* found = nullptr;
    for (const Call& started : calls_.calls) {
      const bool receive = started.kind == CallKind::Irecv;
      if (!receive && started.kind != CallKind::Isend) continue;
      if (std::find(waits.begin(), waits.end(), started.first) == waits.end()) continue;
      if (found == nullptr || (receive && found->kind != CallKind::Irecv)) found = &started;
    }
    if (found == nullptr) return present;
    call = found;
  }
  const bool to_world = call->peer >= 0;
  present.peer = to_world ? communicators_.world_rank(Communicator{call->communicator}, call->peer) : call->peer;
  present.tag = call->tag;
  present.bytes = call->bytes;
  return present;
}

}  // namespace manynode::sst_element
