// Calls to primitives.
#include <algorithm>
#include <stdexcept>

#include "../collectives/select.hpp"
#include "manynode/primitive.hpp"

namespace manynode {
namespace {

// Contexts keep the messages of a communicator's collectives apart from its point-to-point messages, as MPI asks for.
std::uint16_t point_to_point_context(std::uint16_t communicator) {
  return static_cast<std::uint16_t>(2 * communicator);
}

std::uint16_t collective_context(std::uint16_t communicator) {
  return static_cast<std::uint16_t>(2 * communicator + 1);
}

struct Named {
  const char* collective;
  const std::string* choice;
};

Named named(CallKind kind, const CollectiveChoice& choice) {
  switch (kind) {
    case CallKind::Barrier:
      return {"barrier", &choice.barrier};
    case CallKind::Bcast:
      return {"bcast", &choice.bcast};
    case CallKind::Reduce:
      return {"reduce", &choice.reduce};
    case CallKind::Allreduce:
      return {"allreduce", &choice.allreduce};
    case CallKind::Gather:
      return {"gather", &choice.gather};
    case CallKind::Allgather:
      return {"allgather", &choice.allgather};
    case CallKind::Scatter:
      return {"scatter", &choice.scatter};
    case CallKind::Alltoall:
    case CallKind::Alltoallv:
      return {"alltoall", &choice.alltoall};
    default:
      throw std::logic_error("not a collective");
  }
}

}  // namespace

Lowering::Lowering(int rank, const CollectiveChoice& choice, const Communicators& communicators)
    : rank_(rank), choice_(&choice), communicators_(&communicators) {}

void Lowering::lower(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  if (is_collective(call.kind)) {
    lower_collective(call, calls, out);
    return;
  }
  const auto fresh_request = [&] { return kLoweredRequest | (next_request_++ & ~kLoweredRequest); };
  const auto post = [&](PrimitiveKind kind, int peer, int tag, std::uint64_t bytes, std::uint32_t request) {
    if (peer == kProcNull) {
      null_requests_.push_back(request);
      return;
    }
    out.push_back({.kind = kind,
                   .call = call.kind,
                   .context = point_to_point_context(call.communicator),
                   .peer = communicators_->world_rank(Communicator{call.communicator}, peer),
                   .tag = tag,
                   .request = request,
                   .bytes = bytes});
  };

  switch (call.kind) {
    case CallKind::Compute:
      out.push_back({.kind = PrimitiveKind::Compute, .call = CallKind::Compute, .phase = call.phase});
      break;
    case CallKind::Isend:
      post(PrimitiveKind::Isend, call.peer, call.tag, call.bytes, call.first);
      break;
    case CallKind::Irecv:
      post(PrimitiveKind::Irecv, call.peer, call.tag, call.bytes, call.first);
      break;
    case CallKind::Send:
    case CallKind::Recv: {
      const std::uint32_t request = fresh_request();
      post(call.kind == CallKind::Send ? PrimitiveKind::Isend : PrimitiveKind::Irecv, call.peer, call.tag, call.bytes,
           request);
      wait(call, request, out);
      break;
    }
    case CallKind::Sendrecv: {
      const std::uint32_t receive = fresh_request();
      const std::uint32_t send = fresh_request();
      post(PrimitiveKind::Irecv, call.peer2, call.tag2, call.bytes2, receive);
      post(PrimitiveKind::Isend, call.peer, call.tag, call.bytes, send);
      wait(call, receive, out);
      wait(call, send, out);
      break;
    }
    default:  // wait, waitall
      for (std::uint32_t i = 0; i < call.count; ++i) {
        wait(call, calls.requests[call.first + i], out);
      }
      break;
  }
}

void Lowering::wait(const Call& call, std::uint32_t request, std::vector<Primitive>& out) {
  const auto null = std::find(null_requests_.begin(), null_requests_.end(), request);
  if (null != null_requests_.end()) {
    null_requests_.erase(null);
    return;
  }
  out.push_back({.kind = PrimitiveKind::Wait, .call = call.kind, .request = request});
}

void Lowering::lower_collective(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  const Communicator communicator{call.communicator};
  if (next_collective_.size() <= communicator.id) {
    next_collective_.resize(communicator.id + std::size_t{1});
  }
  const std::uint32_t number = next_collective_[communicator.id]++;

  collectives::Task task{.rank = communicators_->rank(communicator),
                         .size = communicators_->size(communicator),
                         .root = std::max(call.peer, 0),
                         .bytes = call.bytes,
                         .send_bytes = {},
                         .recv_bytes = {}};
  // MPI libraries return at once from a collective that moves nothing; of alltoallv, one rank alone cannot know.
  const bool alltoallv = call.kind == CallKind::Alltoallv;
  if (task.size == 1 || (call.bytes == 0 && call.kind != CallKind::Barrier && !alltoallv)) {
    return;
  }
  if (alltoallv) {
    task.send_bytes = std::span(calls.counts).subspan(call.first, call.count);
    task.recv_bytes = std::span(calls.counts).subspan(call.first + call.count, call.count);
    task.bytes /= call.count;
  }

  const auto [collective, choice] = named(call.kind, *choice_);
  // Of alltoallv, the mean size differs from rank to rank, so that only one fixed choice fits all ranks.
  const std::string name = *choice != "auto" ? *choice
                           : alltoallv       ? "scattered"
                                             : collectives::choose_automatically(collective, task.size, task.bytes);
  // A tag says how many collectives this communicator has seen; 20 bits tell apart more than can be under way at once.
  constexpr std::uint32_t kTagMask = (1u << 20) - 1;
  const collectives::Messages::Envelope envelope{.call = call.kind,
                                                 .context = collective_context(call.communicator),
                                                 .tag = static_cast<std::int32_t>(number & kTagMask)};
  collectives::Messages messages(envelope, communicator, *communicators_, next_request_, out);
  collectives::find_algorithm(collective, name)(task, messages);
}

}  // namespace manynode
