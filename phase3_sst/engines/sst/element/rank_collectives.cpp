// Collectives as events: the messages of an algorithm, or SST's own collectives.
#include <algorithm>

#include "message_tags.hpp"
#include "rank_program.hpp"

namespace manynode::sst_element {

namespace {

// Primitives of a collective fetched at once; otherwise events of thousands of ranks would fill the memory.
constexpr std::size_t kPiece = 128;

}  // namespace

void RankProgram::more_primitives(EventSink& sink) {
  if (next_primitive_ == 0) {
    // The requests of one call have consecutive numbers.
    std::uint32_t count = 0;
    for (const Primitive& primitive : primitives_) {
      if (primitive.kind != PrimitiveKind::Isend && primitive.kind != PrimitiveKind::Irecv) continue;
      if (primitive.request == kForgotten) continue;
      if (count++ == 0) first_lowered_ = primitive.request;
    }
    lowered_.resize(count);
    lowered_owed_.assign(count, 0);
  }
  if (one_sided_) {
    more_answering(sink);
    return;
  }
  const std::size_t end = std::min(primitives_.size(), next_primitive_ + kPiece);
  while (next_primitive_ < end) run_primitive(sink);
}

// A message and its wait become one event, as do waits for consecutive requests.
void RankProgram::run_primitive(EventSink& sink) {
  const Primitive& primitive = primitives_[next_primitive_];
  const std::size_t left = primitives_.size() - next_primitive_;
  const bool waited_for = left > 1 && primitives_[next_primitive_ + 1].kind == PrimitiveKind::Wait &&
                          primitives_[next_primitive_ + 1].request == primitive.request;
  const auto tag = [&] { return message_tag(primitive.context, primitive.tag); };
  std::uint32_t waits = 1;
  switch (primitive.kind) {
    case PrimitiveKind::Isend:
      if (waited_for) {
        send(primitive.peer, tag(), primitive.bytes, primitive.call, sink);
        ++next_primitive_;
      } else if (copied(primitive.peer, primitive.bytes)) {
        count_message(primitive.bytes);
        lowered_owed_[primitive.request - first_lowered_] = kCopied;
        sink.isend(to_ember(primitive.peer), tag(), message_size(primitive.bytes, primitive.call),
                   copied_sends_.start());
      } else {
        count_message(primitive.bytes);
        sink.isend(to_ember(primitive.peer), tag(), message_size(primitive.bytes, primitive.call),
                   lowered(primitive.request));
      }
      break;
    case PrimitiveKind::Irecv:
      if (waited_for) {
        sink.recv(to_ember(primitive.peer), tag(), message_size(primitive.bytes, primitive.call));
        pay(owed(primitive), sink);
        ++next_primitive_;
      } else {
        lowered_owed_[primitive.request - first_lowered_] = owed(primitive);
        sink.irecv(to_ember(primitive.peer), tag(), message_size(primitive.bytes, primitive.call),
                   lowered(primitive.request));
      }
      break;
    case PrimitiveKind::Wait:
      while (waits < left && primitives_[next_primitive_ + waits].kind == PrimitiveKind::Wait &&
             primitives_[next_primitive_ + waits].request == primitive.request + waits) {
        ++waits;
      }
      wait_for_lowered(primitive.request - first_lowered_, waits, sink);
      next_primitive_ += waits - 1;
      break;
    case PrimitiveKind::ReduceLocal:
    case PrimitiveKind::CopyLocal:
    case PrimitiveKind::FreshMemory:
    case PrimitiveKind::CollectiveCall:
    case PrimitiveKind::CollectiveStep:
      work_locally(primitive, sink);
      break;
    case PrimitiveKind::Compute:
      sink.compute(primitive.phase);
      break;
    case PrimitiveKind::Remote:  // ranks that have any answer others
      break;
  }
  ++next_primitive_;
}

// As RankProgram::wait; handles are known only when these events happen, so they stay in their places.
void RankProgram::wait_for_lowered(std::uint32_t first, std::uint32_t count, EventSink& sink) {
  copied_sends_.look(sink);
  network::Picoseconds sum = 0;
  const auto await_those_that = [&](bool owe) {
    for (std::uint32_t begin = first; begin < first + count;) {
      std::uint32_t end = begin;
      for (; end < first + count && lowered_owed_[end] != kCopied && (lowered_owed_[end] > 0) == owe; ++end) {
        sum += lowered_owed_[end];
      }
      await(std::span(lowered_).subspan(begin, end - begin), sink);
      begin = std::max(end, begin + 1);
    }
  };
  await_those_that(true);
  pay(sum, sink);
  await_those_that(false);
  // A call that is lowered asks for some event.
  if (std::all_of(lowered_owed_.begin() + first, lowered_owed_.begin() + first + count,
                  [](network::Picoseconds owed) { return owed == kCopied; })) {
    sink.delay(0);
  }
}

void RankProgram::work_locally(const Primitive& primitive, EventSink& sink) {
  const auto nanoseconds = local_time_.of(world_.local_time(primitive));
  // The entry may be all that there is of a collective, and a call that is lowered asks for some event.
  if (nanoseconds > 0 || primitive.kind == PrimitiveKind::CollectiveCall) sink.delay(nanoseconds);
}

// A wait comes after the events that start what it waits for: its handles are known only then.
void RankProgram::more_answering(EventSink& sink) {
  const std::size_t end = std::min(primitives_.size(), next_primitive_ + kPiece);
  const std::size_t begin = next_primitive_;
  const auto waits = [&] {
    return next_primitive_ < primitives_.size() && primitives_[next_primitive_].kind == PrimitiveKind::Wait;
  };
  while (next_primitive_ < end && !waits()) run_answering(sink);
  if (next_primitive_ > begin) return;
  for (; waits(); ++next_primitive_) {
    const std::uint32_t request = primitives_[next_primitive_].request;
    if (!one_sided_->has(request)) pay(lowered_owed_[request - first_lowered_], sink);
    one_sided_->await(one_sided_->has(request) ? one_sided_->take(request) : *lowered(request));
  }
  one_sided_->go_on(sink);
}

void RankProgram::run_answering(EventSink& sink) {
  const Primitive& primitive = primitives_[next_primitive_++];
  const auto size = [&] { return message_size(primitive.bytes, primitive.call); };
  const auto tag = [&] { return message_tag(primitive.context, primitive.tag); };
  switch (primitive.kind) {
    case PrimitiveKind::Isend:
      count_message(primitive.bytes);
      sink.isend(to_ember(primitive.peer), tag(), size(),
                 primitive.request == kForgotten ? one_sided_->forgotten() : lowered(primitive.request));
      break;
    case PrimitiveKind::Irecv:
      lowered_owed_[primitive.request - first_lowered_] = owed(primitive);
      sink.irecv(to_ember(primitive.peer), tag(), size(), lowered(primitive.request));
      break;
    case PrimitiveKind::ReduceLocal:
    case PrimitiveKind::CopyLocal:
    case PrimitiveKind::FreshMemory:
    case PrimitiveKind::CollectiveCall:
    case PrimitiveKind::CollectiveStep:
      work_locally(primitive, sink);
      break;
    case PrimitiveKind::Remote: {
      count_message(primitive.bytes);
      count_message(primitive.returned);
      const bool own_request = (primitive.request & kLoweredRequest) != 0;
      const network::Picoseconds owed = world_.owed_remotely(shared_, rank_, primitive.peer, primitive.returned);
      if (own_request) pay(owed, sink);
      one_sided_->start(to_ember(primitive.peer), primitive.bytes, primitive.returned, primitive.call,
                        own_request ? one_sided_->place(primitive.request) : requests_.start(primitive.request, owed),
                        world_.owed_remotely(shared_, primitive.peer, rank_, primitive.bytes), sink);
      break;
    }
    case PrimitiveKind::Compute:
    case PrimitiveKind::Wait:
      break;
  }
}

bool RankProgram::make_groups(EventSink& sink) {
  // All ranks of the job create them in the same order, as MPI requires; a restarted program creates the same ones.
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
  // As in MPI libraries and in the expansion.
  if (communicators_.size(communicator) == 1) return false;
  if (call.bytes == 0 && call.kind != CallKind::Barrier && !alltoallv) return false;
  const std::uint32_t group = call.communicator == 0 ? 0 : groups_[call.communicator - 1u];
  // The group of all ranks uses ember's order, others the communicator's.
  const auto place = [&](int rank) { return group == 0 ? static_cast<int>(to_ember(rank)) : rank; };
  if (!alltoallv) {
    sink.collective(call.kind, group, place(std::max(call.peer, 0)), message_size(call.bytes, call.kind));
    return true;
  }
  sent_.resize(call.count);
  received_.resize(call.count);
  for (std::uint32_t i = 0; i < call.count; ++i) {
    const auto at = static_cast<std::size_t>(place(static_cast<int>(i)));
    sent_[at] = static_cast<int>(message_size(calls_.sent(call)[i], call.kind));
    received_[at] = static_cast<int>(message_size(calls_.received(call)[i], call.kind));
  }
  sink.alltoallv(group, sent_.data(), received_.data());
  return true;
}

}  // namespace manynode::sst_element
