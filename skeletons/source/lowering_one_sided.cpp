// One-sided calls to primitives; primitive.hpp says what each becomes.
#include <algorithm>

#include "manynode/primitive.hpp"

namespace manynode {
namespace {

// The tag of a message between an origin and a target: of a post, or of a complete.
std::int32_t window_tag(const Call& call) {
  const bool post = call.kind == CallKind::WinPost || call.kind == CallKind::WinStart;
  return kFirstWindowTag | (call.peer2 << 1) | (post ? 0 : 1);
}

bool goes_out(CallKind kind) { return kind != CallKind::Get; }
bool comes_back(CallKind kind) { return kind == CallKind::Get || kind == CallKind::GetAccumulate; }

}  // namespace

void Lowering::lower_one_sided(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  switch (call.kind) {
    case CallKind::WinFence: {
      finish_remote(call, out);
      const std::size_t begin = out.size();
      Call barrier;
      barrier.kind = CallKind::Barrier;
      barrier.communicator = call.communicator;
      lower_collective(barrier, calls, out);
      for (std::size_t i = begin; i < out.size(); ++i) out[i].call = call.kind;
      return;
    }
    case CallKind::WinFlush:
      finish_remote(call, out);
      return;
    case CallKind::WinLock:
      round_trips(call, out);
      return;
    case CallKind::WinUnlock:
      finish_remote(call, out);
      round_trips(call, out);
      return;
    case CallKind::WinComplete:
      finish_remote(call, out);
      window_messages(call, calls, out);
      return;
    case CallKind::WinPost:
    case CallKind::WinStart:
    case CallKind::WinWait:
      window_messages(call, calls, out);
      return;
    default:
      break;
  }
  const Communicator communicator{call.communicator};
  if (call.starts_nothing()) seldom().complete_requests.push_back(static_cast<std::uint32_t>(call.tag));
  if (call.peer == kProcNull || call.peer == communicators_->rank(communicator)) return;
  const std::uint32_t request = call.nonblocking() ? static_cast<std::uint32_t>(call.tag) : fresh_request();
  out.push_back({.kind = PrimitiveKind::Remote,
                 .call = call.kind,
                 .peer = communicators_->world_rank(communicator, call.peer),
                 .request = request,
                 .bytes = goes_out(call.kind) ? call.bytes : 0,
                 .returned = comes_back(call.kind) ? call.bytes : 0});
  if (call.nonblocking()) return;
  seldom().remote.push_back({call.communicator, call.peer2, call.peer, request});
}

void Lowering::finish_remote(const Call& call, std::vector<Primitive>& out) {
  if (!seldom_) return;
  auto& remote = seldom_->remote;
  const auto ends = [&](const RemoteOperation& operation) {
    const bool same_window = operation.communicator == call.communicator && operation.window == call.peer2;
    return same_window && (call.peer == kNoPeer || call.peer == operation.target);
  };
  for (const RemoteOperation& operation : remote) {
    if (ends(operation)) out.push_back({.kind = PrimitiveKind::Wait, .call = call.kind, .request = operation.request});
  }
  std::erase_if(remote, ends);
}

void Lowering::round_trips(const Call& call, std::vector<Primitive>& out) {
  const Communicator communicator{call.communicator};
  const int own = communicators_->rank(communicator);
  const int size = communicators_->size(communicator);
  const std::size_t begin = out.size();
  const auto ask = [&](int target) {
    if (target == own || target == kProcNull) return;
    out.push_back({.kind = PrimitiveKind::Remote,
                   .call = call.kind,
                   .peer = communicators_->world_rank(communicator, target),
                   .request = fresh_request()});
  };
  if (call.peer != kNoPeer) {
    ask(call.peer);
  } else {
    // The next rank first: nobody is asked by all at once.
    for (int distance = 1; distance < size; ++distance) ask((own + distance) % size);
  }
  const std::size_t end = out.size();
  for (std::size_t i = begin; i < end; ++i) {
    out.push_back({.kind = PrimitiveKind::Wait, .call = call.kind, .request = out[i].request});
  }
}

void Lowering::window_messages(const Call& call, const Calls& calls, std::vector<Primitive>& out) {
  const Communicator communicator{call.communicator};
  // A post and a complete return whatever the other side does, even where a send ends with its receive.
  const bool sends = call.kind == CallKind::WinPost || call.kind == CallKind::WinComplete;
  const std::size_t begin = out.size();
  for (const std::uint64_t member : calls.group(call)) {
    const int peer = static_cast<int>(member);
    // The rank itself needs no message.
    if (peer == communicators_->rank(communicator)) continue;
    out.push_back({.kind = sends ? PrimitiveKind::Isend : PrimitiveKind::Irecv,
                   .call = call.kind,
                   .context = collective_context(call.communicator),
                   .peer = communicators_->world_rank(communicator, peer),
                   .tag = window_tag(call),
                   .request = sends ? kForgotten : fresh_request()});
  }
  const std::size_t end = sends ? begin : out.size();
  for (std::size_t i = begin; i < end; ++i) {
    out.push_back({.kind = PrimitiveKind::Wait, .call = call.kind, .request = out[i].request});
  }
}

}  // namespace manynode
