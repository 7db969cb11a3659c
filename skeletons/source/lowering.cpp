// Calls to primitives.
#include <algorithm>
#include <stdexcept>

#include "../collectives/plan.hpp"
#include "manynode/primitive.hpp"

namespace manynode {
namespace {

// Contexts keep the messages of a communicator's collectives apart from its point-to-point messages, as MPI asks for.
std::uint16_t collective_context(std::uint16_t communicator) {
  return static_cast<std::uint16_t>(2 * communicator + 1);
}

}  // namespace

Lowering::Lowering(int, const CollectiveChoice& choice, const Communicators& communicators)
    : plan_(&collectives::plan_of(choice)), communicators_(&communicators) {}

Lowering::Lowering(Lowering&&) noexcept = default;
Lowering::~Lowering() = default;

Lowering::Seldom& Lowering::seldom() {
  if (!seldom_) {
    seldom_ = std::make_unique<Seldom>();
  }
  return *seldom_;
}

void Lowering::lower(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  if (is_collective(call.kind)) {
    lower_collective(call, calls, out);
    return;
  }
  const auto fresh_request = [&] { return kLoweredRequest | (next_request_++ & ~kLoweredRequest); };
  const auto post = [&](PrimitiveKind kind, int peer, int tag, std::uint64_t bytes, std::uint32_t request) {
    if (peer == kProcNull) {
      seldom().null_requests.push_back(request);
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
      out.push_back(
          {.kind = PrimitiveKind::Compute, .call = CallKind::Compute, .phase = call.first, .bytes = call.bytes});
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
      post(PrimitiveKind::Irecv, call.peer2, calls.receive_tag(call), calls.receive_bytes(call), receive);
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
  if (seldom_ && !seldom_->null_requests.empty()) {
    auto& null_requests = seldom_->null_requests;
    const auto null = std::find(null_requests.begin(), null_requests.end(), request);
    if (null != null_requests.end()) {
      null_requests.erase(null);
      return;
    }
  }
  out.push_back({.kind = PrimitiveKind::Wait, .call = call.kind, .request = request});
}

std::uint32_t Lowering::count_collective(Communicator communicator) {
  if (communicator.id == 0) {
    return next_world_collective_++;
  }
  auto& next = seldom().next_collective;
  if (next.size() < communicator.id) {
    next.resize(communicator.id);
  }
  return next[communicator.id - 1u]++;
}

void Lowering::lower_collective(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  const Communicator communicator{call.communicator};
  const std::uint32_t number = count_collective(communicator);
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
    // The mean size differs between ranks, so rules must not use it.
    task.send_bytes = calls.sent(call);
    task.recv_bytes = calls.received(call);
    task.bytes = 0;
  }

  // A tag counts the collectives of this communicator; 20 bits distinguish more than can be active at once.
  constexpr std::uint32_t kTagMask = (1u << 20) - 1;
  const collectives::Messages::Envelope envelope{.call = call.kind,
                                                 .context = collective_context(call.communicator),
                                                 .tag = static_cast<std::int32_t>(number & kTagMask)};
  collectives::Messages messages(envelope, communicator, *communicators_, next_request_, out);
  plan_->algorithm(call.kind, task.size, task.bytes)(task, messages);
}

}  // namespace manynode
