// MPI calls as events: messages and the waits for them.
#include <stdexcept>
#include <string>

#include "message_tags.hpp"
#include "rank_program.hpp"

namespace manynode::sst_element {

namespace {

// Ember has no gather and firefly no reduce_scatter; the rarer collectives and all non-blocking ones go as messages.
bool has_own(const Call& call) {
  if (call.nonblocking()) return false;
  switch (call.kind) {
    case CallKind::Barrier:
    case CallKind::Bcast:
    case CallKind::Reduce:
    case CallKind::Allreduce:
    case CallKind::Allgather:
    case CallKind::Scatter:
    case CallKind::Alltoall:
    case CallKind::Alltoallv:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool RankProgram::start(const Call& call, EventSink& sink) {
  const Communicator communicator{call.communicator};
  const std::uint16_t context = point_to_point_context(call.communicator);
  if (lowering_.has_pending() && blocks(call.kind) && !call.nonblocking()) {
    primitives_.clear();
    next_primitive_ = 0;
    lowering_.move_pending(call.kind, primitives_);
    moves_pending_ = true;
    more_primitives(sink);
    return true;
  }
  switch (call.kind) {
    case CallKind::Isend:
    case CallKind::Irecv:
      if (call.peer == kProcNull) {
        requests_.start_null(call.first);
        return false;
      }
      if (call.kind == CallKind::Isend) {
        count_message(call.bytes);
        const bool copies = copied(communicators_.world_rank(communicator, call.peer), call.bytes);
        if (copies) requests_.start_null(call.first);
        sink.isend(to_ember(communicator, call.peer), message_tag(context, call.tag),
                   message_size(call.bytes, call.kind), copies ? copied_sends_.start() : requests_.start(call.first));
      } else {
        sink.irecv(to_ember(communicator, call.peer), message_tag(context, call.tag),
                   message_size(call.bytes, call.kind),
                   requests_.start(call.first, owed(communicator, call.peer, call.bytes)));
      }
      return true;
    case CallKind::Send:
      if (one_sided_) return lower(call, sink);
      if (call.peer == kProcNull) return false;
      send(communicators_.world_rank(communicator, call.peer), message_tag(context, call.tag), call.bytes, call.kind,
           sink);
      return true;
    case CallKind::Recv:
      if (one_sided_) return lower(call, sink);
      if (call.peer == kProcNull) return false;
      sink.recv(to_ember(communicator, call.peer), message_tag(context, call.tag), message_size(call.bytes, call.kind));
      pay(owed(communicator, call.peer, call.bytes), sink);
      return true;
    case CallKind::Sendrecv:
      return one_sided_ ? lower(call, sink) : sendrecv(call, sink);
    case CallKind::Wait:
    case CallKind::Waitall:
    case CallKind::Waitany:
    case CallKind::Waitsome:
      return wait(call, sink);
    default:
      if (world_.settings().own_collectives) {
        if (has_own(call)) return start_own_collective(call, sink);
        world_.tell_expanded(call);
      }
      if (is_collective(call.kind) && call.nonblocking()) {
        lowering_.start(call, calls_);
        requests_.start_null(static_cast<std::uint32_t>(call.tag));
        return false;
      }
      if (call.starts_nothing()) {
        requests_.start_null(static_cast<std::uint32_t>(call.tag));
        return false;
      }
      return lower(call, sink);
  }
}

bool RankProgram::lower(const Call& call, EventSink& sink) {
  primitives_.clear();
  next_primitive_ = 0;
  lowering_.lower(call, calls_, primitives_);
  if (primitives_.empty()) return false;
  more_primitives(sink);
  return true;
}

bool RankProgram::sendrecv(const Call& call, EventSink& sink) {
  const Communicator communicator{call.communicator};
  const std::uint16_t context = point_to_point_context(call.communicator);
  const bool receives = call.peer2 != kProcNull;
  const bool sends = call.peer != kProcNull;
  lowered_.resize(1);
  if (receives) {
    sink.irecv(to_ember(communicator, call.peer2), message_tag(context, calls_.receive_tag(call)),
               message_size(calls_.receive_bytes(call), call.kind), &lowered_[0]);
  }
  if (sends) {
    send(communicators_.world_rank(communicator, call.peer), message_tag(context, call.tag), call.bytes, call.kind,
         sink);
  }
  if (receives) {
    sink.wait(&lowered_[0]);
    pay(owed(communicator, call.peer2, calls_.receive_bytes(call)), sink);
  }
  return receives || sends;
}

bool RankProgram::wait(const Call& call, EventSink& sink) {
  std::span<RequestHandle> handles;
  try {
    handles = requests_.take(calls_.waited_for(call));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("rank " + std::to_string(rank_) + " of job " + shared_.config->name + ", " +
                             std::string(call_name(call.kind)) + " of step " + std::to_string(steps_) + ": " +
                             error.what());
  }
  if (handles.empty()) return false;
  copied_sends_.look(sink);
  if (one_sided_) {
    pay(requests_.sum_owed(), sink);
    for (const RequestHandle handle : handles) one_sided_->await(handle);
    return one_sided_->go_on(sink);
  }
  // Messages of the own node come first, and others on the way meanwhile.
  const std::size_t owing = requests_.owing();
  await(handles.first(owing), sink);
  pay(requests_.sum_owed(), sink);
  await(handles.subspan(owing), sink);
  return true;
}

network::Picoseconds RankProgram::owed(Communicator communicator, int sender, std::uint64_t bytes) const {
  if (sender < 0) return 0;
  return world_.owed(shared_, rank_, communicators_.world_rank(communicator, sender), bytes);
}

network::Picoseconds RankProgram::owed(const Primitive& receive) const {
  return world_.owed(shared_, rank_, receive.peer, receive.bytes);
}

bool RankProgram::copied(int receiver, std::uint64_t bytes) const {
  return !one_sided_ && world_.copied(shared_, rank_, receiver, bytes);
}

void RankProgram::send(int receiver, std::uint32_t tag, std::uint64_t bytes, CallKind call, EventSink& sink) {
  count_message(bytes);
  if (copied(receiver, bytes)) {
    sink.isend(to_ember(receiver), tag, message_size(bytes, call), copied_sends_.start());
    copied_sends_.look(sink);
  } else {
    sink.send(to_ember(receiver), tag, message_size(bytes, call));
  }
}

void RankProgram::pay(network::Picoseconds time, EventSink& sink) {
  if (time == 0) return;
  if (const std::uint64_t nanoseconds = paid_time_.of(time); nanoseconds > 0) sink.delay(nanoseconds);
}

void RankProgram::await(std::span<RequestHandle> handles, EventSink& sink) {
  if (handles.size() == 1) {
    sink.wait(handles.data());
  } else if (!handles.empty()) {
    sink.waitall(handles.data(), static_cast<std::uint32_t>(handles.size()));
  }
}

}  // namespace manynode::sst_element
