// Calls to primitives.
#include <algorithm>
#include <stdexcept>

#include "../collectives/plan.hpp"
#include "manynode/primitive.hpp"

namespace manynode {
namespace {

// Whether every rank knows the bytes of every other one, so that all leave out a collective that moves nothing.
bool sizes_known(CallKind kind) {
  switch (kind) {
    case CallKind::Alltoallv:
    case CallKind::Alltoallw:
    case CallKind::Gatherv:
    case CallKind::Scatterv:
      return false;
    default:
      return !is_neighbor_collective(kind);
  }
}

// What a rank that is alone in its communicator copies from one buffer to the other. Neighbour collectives leave a
// rank's own data where it is.
std::uint64_t copied_alone(CallKind kind, const collectives::Task& task) {
  switch (kind) {
    case CallKind::Barrier:
    case CallKind::Bcast:
    case CallKind::Exscan:
      return 0;
    case CallKind::Alltoallv:
    case CallKind::Alltoallw:
      return task.sent_to(0);
    default:
      return is_neighbor_collective(kind) ? 0 : task.block(0);
  }
}

}  // namespace

Lowering::Lowering(int, const CollectiveChoice& choice, const Communicators& communicators, LocalWork work,
                   int ranks_per_node)
    : plan_(&collectives::plan_of(choice)),
      communicators_(&communicators),
      work_(work),
      ranks_per_node_(ranks_per_node) {}

Lowering::Lowering(Lowering&&) noexcept = default;
Lowering::~Lowering() = default;

Lowering::Seldom& Lowering::seldom() {
  if (!seldom_) {
    seldom_ = std::make_unique<Seldom>();
  }
  return *seldom_;
}

void Lowering::lower(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  if (is_collective(call.kind) && call.nonblocking()) {
    start(call, calls);
    seldom().complete_requests.push_back(static_cast<std::uint32_t>(call.tag));
    return;
  }
  if (has_pending() && blocks(call.kind)) {
    move_pending(call.kind, out);
  }
  if (is_one_sided(call.kind)) {
    lower_one_sided(call, calls, out);
    return;
  }
  if (is_collective(call.kind)) {
    lower_collective(call, calls, out);
    return;
  }
  const auto post = [&](PrimitiveKind kind, int peer, int tag, std::uint64_t bytes, std::uint32_t request) {
    if (peer == kProcNull) {
      seldom().complete_requests.push_back(request);
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
    default:  // waits
      for (const std::uint32_t request : calls.waited_for(call)) {
        wait(call, request, out);
      }
      break;
  }
}

void Lowering::start(const Call& collective, const Calls& calls) {
  lower_collective(collective, calls, seldom().pending);
}

void Lowering::move_pending(CallKind charged_to, std::vector<Primitive>& out) {
  for (Primitive& primitive : seldom().pending) {
    primitive.call = charged_to;
    out.push_back(primitive);
  }
  seldom().pending.clear();
}

void Lowering::wait(const Call& call, std::uint32_t request, std::vector<Primitive>& out) {
  if (seldom_ && !seldom_->complete_requests.empty()) {
    auto& complete_requests = seldom_->complete_requests;
    const auto null = std::find(complete_requests.begin(), complete_requests.end(), request);
    if (null != complete_requests.end()) {
      complete_requests.erase(null);
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
                         .library = plan_->library(),
                         .segment = plan_->segment_bytes(call.kind),
                         .exclusive = call.kind == CallKind::Exscan,
                         .bytes = call.bytes,
                         .send_bytes = {},
                         .recv_bytes = {},
                         .blocks = {},
                         .sources = {},
                         .destinations = {}};
  std::uint64_t bytes_of_rules = call.bytes;
  if (!sizes_known(call.kind)) {
    bytes_of_rules = 0;  // rules must choose the same on every rank
  }
  switch (call.kind) {
    case CallKind::Alltoallv:
    case CallKind::Alltoallw:
      task.bytes = 0;
      task.send_bytes = calls.sent(call);
      task.recv_bytes = calls.received(call);
      break;
    case CallKind::Gatherv:
      task.blocks = calls.received(call);
      break;
    case CallKind::Scatterv:
      task.blocks = calls.sent(call);
      break;
    case CallKind::Allgatherv:
    case CallKind::ReduceScatterv:
      task.blocks = calls.received(call);
      task.bytes = task.block_sum(0, task.size);
      // Rounded up: a collective that moves something is not taken for one that moves nothing.
      bytes_of_rules = (task.bytes + static_cast<std::uint64_t>(task.size) - 1) / static_cast<std::uint64_t>(task.size);
      break;
    default:
      if (is_neighbor_collective(call.kind)) {
        task.send_bytes = calls.sent(call);
        task.recv_bytes = calls.received(call);
        task.sources = calls.sources(call);
        task.destinations = calls.destinations(call);
      }
      break;
  }
  // MPI libraries return at once from a collective that moves nothing, if every rank can know.
  const bool nothing = bytes_of_rules == 0 && sizes_known(call.kind) && call.kind != CallKind::Barrier;
  if (nothing) {
    return;
  }

  // A tag counts the collectives of this communicator; 20 bits distinguish more than can be active at once.
  constexpr std::uint32_t kTagMask = (1u << 20) - 1;
  const collectives::Messages::Envelope envelope{.call = call.kind,
                                                 .context = collective_context(call.communicator),
                                                 .tag = static_cast<std::int32_t>(number & kTagMask)};
  collectives::Messages messages(envelope, communicator, *communicators_, work_, ranks_per_node_, next_request_, out);
  if (task.size == 1) {
    messages.copy(copied_alone(call.kind, task));
    return;
  }
  if (work_.calls) {
    out.push_back({.kind = PrimitiveKind::CollectiveCall, .call = call.kind});
  }
  plan_->algorithm(call.kind, task.size, bytes_of_rules)(task, messages);
}

}  // namespace manynode
