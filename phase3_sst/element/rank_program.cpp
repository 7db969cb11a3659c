#include "rank_program.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "manynode/error_report.hpp"
#include "message_tags.hpp"

namespace manynode::sst_element {

namespace {

// Primitives of a collective asked for at once: events of thousands of ranks would else fill the memory.
constexpr std::size_t kPiece = 128;

// firefly counts in 32 bits, partly with signs.
std::uint32_t checked_size(std::uint64_t bytes, CallKind call) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (bytes > kMost) {
    throw UserError("a message is too long for the engine sst", std::string(call_name(call)), std::to_string(bytes),
                    "at most " + std::to_string(kMost) + " bytes",
                    "send it in several messages, or use the engine fast");
  }
  return static_cast<std::uint32_t>(bytes);
}

// ember has no gather and firefly no reduce_scatter.
bool has_own(CallKind kind) { return kind != CallKind::Gather && kind != CallKind::ReduceScatter; }

}  // namespace

RankProgram::RankProgram(World& world, std::size_t job, int rank)
    : world_(world),
      shared_(world.job(job)),
      job_(job),
      rank_(rank),
      size_(static_cast<int>(shared_.config->ranks())),
      skeleton_(shared_.application->make(rank_, size_)),
      communicators_(rank_, size_),
      lowering_(rank_, world.config().collectives, communicators_),
      draws_(shared_.timing ? shared_.phases : 0, 0) {}

void RankProgram::begin(fast::Picoseconds now) {
  begun_ = true;
  clock_ = now;
  call_began_ = now;
  program_began_ = now;
}

bool RankProgram::advance(fast::Picoseconds now, EventSink& sink) {
  if (!shared_.config->background) world_.tick(now);
  clock_ = now;
  if (in_call_) {
    if (next_primitive_ < primitives_.size()) {
      more_primitives(sink);
      return true;
    }
    end_call(now);
  }
  // Compute phases move this on when they happen.
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
      if (shared_.timing) {
        sink.compute(call.first);
        computes = true;
      }
      continue;
    }
    call_bytes_ = 0;
    in_call_ = true;
    if (start(call, sink)) return true;
    // Nothing to be done, as for a message to MPI_PROC_NULL.
    end_call(call_began_);
  }
}

std::uint64_t RankProgram::draw(std::uint32_t phase) {
  const std::uint32_t number = draws_[phase]++;
  const double seconds = shared_.timing->draw(static_cast<std::uint32_t>(rank_), phase, number);
  const std::uint64_t nanoseconds = compute_time_.of(fast::to_picoseconds(seconds));
  const auto time = static_cast<fast::Picoseconds>(nanoseconds) * 1000;
  uses_[static_cast<std::size_t>(CallKind::Compute)].time += time;
  call_began_ += time;
  return nanoseconds;
}

void RankProgram::end_call(fast::Picoseconds now) {
  fast::OperationUse& use = uses_[static_cast<std::size_t>(calls_.calls[next_call_].kind)];
  use.time += now - call_began_;
  use.bytes += call_bytes_;
  ++use.calls;
  ++next_call_;
  in_call_ = false;
}

bool RankProgram::next_step(fast::Picoseconds now) {
  const fast::JobConfig& config = *shared_.config;
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

bool RankProgram::start(const Call& call, EventSink& sink) {
  const Communicator communicator{call.communicator};
  const std::uint16_t context = point_to_point_context(call.communicator);
  switch (call.kind) {
    case CallKind::Isend:
    case CallKind::Irecv:
      if (call.peer == kProcNull) {
        requests_.start_null(call.first);
        return false;
      }
      if (call.kind == CallKind::Isend) {
        count_message(call.bytes);
        sink.isend(to_ember(communicator, call.peer), message_tag(context, call.tag),
                   checked_size(call.bytes, call.kind), requests_.start(call.first));
      } else {
        sink.irecv(to_ember(communicator, call.peer), message_tag(context, call.tag),
                   checked_size(call.bytes, call.kind), requests_.start(call.first));
      }
      return true;
    case CallKind::Send:
      if (call.peer == kProcNull) return false;
      count_message(call.bytes);
      sink.send(to_ember(communicator, call.peer), message_tag(context, call.tag), checked_size(call.bytes, call.kind));
      return true;
    case CallKind::Recv:
      if (call.peer == kProcNull) return false;
      sink.recv(to_ember(communicator, call.peer), message_tag(context, call.tag), checked_size(call.bytes, call.kind));
      return true;
    case CallKind::Sendrecv:
      return sendrecv(call, sink);
    case CallKind::Wait:
    case CallKind::Waitall:
      return wait(call, sink);
    default:
      if (world_.settings().own_collectives) {
        if (has_own(call.kind)) return start_own_collective(call, sink);
        world_.tell_expanded(call.kind);
      }
      primitives_.clear();
      next_primitive_ = 0;
      lowering_.lower(call, calls_, primitives_);
      if (primitives_.empty()) return false;
      more_primitives(sink);
      return true;
  }
}

bool RankProgram::sendrecv(const Call& call, EventSink& sink) {
  const Communicator communicator{call.communicator};
  const std::uint16_t context = point_to_point_context(call.communicator);
  const bool receives = call.peer2 != kProcNull;
  const bool sends = call.peer != kProcNull;
  lowered_.resize(1);
  if (receives) {
    sink.irecv(to_ember(communicator, call.peer2), message_tag(context, calls_.receive_tag(call)),
               checked_size(calls_.receive_bytes(call), call.kind), &lowered_[0]);
  }
  if (sends) {
    count_message(call.bytes);
    sink.send(to_ember(communicator, call.peer), message_tag(context, call.tag), checked_size(call.bytes, call.kind));
  }
  if (receives) sink.wait(&lowered_[0]);
  return receives || sends;
}

bool RankProgram::wait(const Call& call, EventSink& sink) {
  std::span<RequestHandle> handles;
  try {
    handles = requests_.take(std::span(calls_.requests).subspan(call.first, call.count));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("rank " + std::to_string(rank_) + " of job " + shared_.config->name + ", " +
                             std::string(call_name(call.kind)) + " of step " + std::to_string(steps_) + ": " +
                             error.what());
  }
  if (handles.empty()) return false;
  if (handles.size() == 1) {
    sink.wait(handles.data());
  } else {
    sink.waitall(handles.data(), static_cast<std::uint32_t>(handles.size()));
  }
  return true;
}

void RankProgram::more_primitives(EventSink& sink) {
  if (next_primitive_ == 0) {
    // The numbers of the requests of one call follow each other.
    std::uint32_t count = 0;
    for (const Primitive& primitive : primitives_) {
      if (primitive.kind != PrimitiveKind::Isend && primitive.kind != PrimitiveKind::Irecv) continue;
      if (count++ == 0) first_lowered_ = primitive.request;
    }
    lowered_.resize(count);
  }
  const std::size_t end = std::min(primitives_.size(), next_primitive_ + kPiece);
  while (next_primitive_ < end) run_primitive(sink);
}

// A message and the wait for it become one event, and so do waits for requests that follow each other.
void RankProgram::run_primitive(EventSink& sink) {
  const Primitive& primitive = primitives_[next_primitive_];
  const std::size_t left = primitives_.size() - next_primitive_;
  const bool waited_for = left > 1 && primitives_[next_primitive_ + 1].kind == PrimitiveKind::Wait &&
                          primitives_[next_primitive_ + 1].request == primitive.request;
  const auto tag = [&] { return message_tag(primitive.context, primitive.tag); };
  std::uint32_t waits = 1;
  switch (primitive.kind) {
    case PrimitiveKind::Isend:
      count_message(primitive.bytes);
      if (waited_for) {
        sink.send(to_ember(primitive.peer), tag(), checked_size(primitive.bytes, primitive.call));
        ++next_primitive_;
      } else {
        sink.isend(to_ember(primitive.peer), tag(), checked_size(primitive.bytes, primitive.call),
                   lowered(primitive.request));
      }
      break;
    case PrimitiveKind::Irecv:
      if (waited_for) {
        sink.recv(to_ember(primitive.peer), tag(), checked_size(primitive.bytes, primitive.call));
        ++next_primitive_;
      } else {
        sink.irecv(to_ember(primitive.peer), tag(), checked_size(primitive.bytes, primitive.call),
                   lowered(primitive.request));
      }
      break;
    case PrimitiveKind::Wait:
      while (waits < left && primitives_[next_primitive_ + waits].kind == PrimitiveKind::Wait &&
             primitives_[next_primitive_ + waits].request == primitive.request + waits) {
        ++waits;
      }
      if (waits == 1) {
        sink.wait(lowered(primitive.request));
      } else {
        sink.waitall(lowered(primitive.request), waits);
        next_primitive_ += waits - 1;
      }
      break;
    case PrimitiveKind::ReduceLocal:
      if (const auto nanoseconds = reduce_time_.of(world_.reduce_time(primitive.bytes)); nanoseconds > 0) {
        sink.delay(nanoseconds);
      }
      break;
    case PrimitiveKind::Compute:
      sink.compute(primitive.phase);
      break;
  }
  ++next_primitive_;
}

bool RankProgram::make_groups(EventSink& sink) {
  // Made by all ranks of the job in the same order, as MPI asks for; a program that begins again makes the same ones.
  bool asked = false;
  groups_.reserve(communicators_.count() - 1);
  while (groups_.size() + 1 < communicators_.count()) {
    const Communicator communicator{static_cast<std::uint16_t>(groups_.size() + 1)};
    std::vector<int> ranks(static_cast<std::size_t>(communicators_.size(communicator)));
    bool world_again = communicators_.size(communicator) == size_;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const int world_rank = communicators_.world_rank(communicator, static_cast<int>(i));
      world_again = world_again && world_rank == static_cast<int>(i);
      ranks[i] = static_cast<int>(to_ember(world_rank));
    }
    groups_.push_back(0);
    if (world_again) continue;  // needs no barrier and no list
    sink.make_group(std::move(ranks), &groups_.back());
    asked = true;
  }
  return asked;
}

bool RankProgram::start_own_collective(const Call& call, EventSink& sink) {
  const Communicator communicator{call.communicator};
  const bool alltoallv = call.kind == CallKind::Alltoallv;
  // As MPI libraries, and as the expansion.
  if (communicators_.size(communicator) == 1) return false;
  if (call.bytes == 0 && call.kind != CallKind::Barrier && !alltoallv) return false;
  const std::uint32_t group = call.communicator == 0 ? 0 : groups_[call.communicator - 1u];
  // The group of all ranks has them in ember's order, others in the communicator's.
  const auto place = [&](int rank) { return group == 0 ? static_cast<int>(to_ember(rank)) : rank; };
  if (!alltoallv) {
    sink.collective(call.kind, group, place(std::max(call.peer, 0)), checked_size(call.bytes, call.kind));
    return true;
  }
  sent_.resize(call.count);
  received_.resize(call.count);
  for (std::uint32_t i = 0; i < call.count; ++i) {
    const auto at = static_cast<std::size_t>(place(static_cast<int>(i)));
    sent_[at] = static_cast<int>(checked_size(calls_.sent(call)[i], call.kind));
    received_[at] = static_cast<int>(checked_size(calls_.received(call)[i], call.kind));
  }
  sink.alltoallv(group, sent_.data(), received_.data());
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
  if (call->kind == CallKind::Wait || call->kind == CallKind::Waitall) {
    // Of several, the first receive: sends mostly complete by themselves.
    const auto waits = std::span(calls_.requests).subspan(call->first, call->count);
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
