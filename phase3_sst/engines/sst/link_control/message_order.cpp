#include "message_order.hpp"

#include <algorithm>

#include <sst/elements/firefly/merlinEvent.h>

namespace manynode::link_control {

namespace {

using Packet = SST::Firefly::FireflyNetworkEvent;

Packet& packet_of(Request* request) { return *static_cast<Packet*>(request->inspectPayload()); }

std::uint64_t pair_of(Request* request, Packet& packet) {
  return (static_cast<std::uint64_t>(request->src) << 2 * NUM_PID_BITS) |
         (static_cast<std::uint64_t>(packet.getSrcPid()) << NUM_PID_BITS) |
         static_cast<std::uint64_t>(packet.getDestPid());
}

// The first byte of a stream is its kind: 0 for messages, others for remote memory and control.
bool is_message(Packet& packet) {
  const auto* kind = static_cast<const unsigned char*>(packet.bufPtr());
  return kind != nullptr && *kind == 0 && !packet.isCtrl();
}

}  // namespace

void MessageOrder::take(Request* request, std::deque<Request*>& ready) {
  Packet& packet = packet_of(request);
  const std::uint64_t key = pair_of(request, packet);
  const auto found = pairs_.find(key);
  if (packet.isHdr()) {
    const bool alone = packet.isTail();
    if (!is_message(packet) || (alone && found == pairs_.end())) {
      ready.push_back(request);
      return;
    }
    Pair& pair = found == pairs_.end() ? pairs_[key] : found->second;
    pair.push_back({packet.getSrcStream(), alone, {}});
    if (pair.size() > 1) {
      pair.back().waiting.push_back(request);
    } else {
      ready.push_back(request);
    }
    return;
  }

  if (found == pairs_.end()) {
    ready.push_back(request);
    return;
  }
  Pair& pair = found->second;
  const auto message =
      std::find_if(pair.begin(), pair.end(), [&](const Message& one) { return one.stream == packet.getSrcStream(); });
  if (message == pair.end()) {
    ready.push_back(request);
    return;
  }
  message->whole = packet.isTail();
  message->waiting.push_back(request);
  if (message != pair.begin()) return;
  pass(pair.front(), ready);
  while (!pair.empty() && pair.front().whole) {
    pair.pop_front();
    if (!pair.empty()) pass(pair.front(), ready);
  }
  if (pair.empty()) pairs_.erase(found);
}

void MessageOrder::pass(Message& message, std::deque<Request*>& ready) {
  ready.insert(ready.end(), message.waiting.begin(), message.waiting.end());
  message.waiting.clear();
}

void MessageOrder::clear() {
  for (auto& [key, pair] : pairs_) {
    for (Message& message : pair) {
      for (Request* request : message.waiting) delete request;
    }
  }
  pairs_.clear();
}

}  // namespace manynode::link_control
