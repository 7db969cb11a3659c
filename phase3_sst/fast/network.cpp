#include "network.hpp"

#include <algorithm>

namespace manynode::fast {

namespace {

std::uint64_t size_of_chunk(const Message& message, std::uint8_t chunk) {
  if (message.chunk_bytes == 0) return 0;
  const std::uint64_t before = chunk * message.chunk_bytes;
  return std::min(message.chunk_bytes, message.bytes - before);
}

// A clear to send travels from the receiver to the sender.
bool backwards(const Message& message) { return message.kind == MessageKind::ClearToSend; }

bool has_data(const Message& message) {
  return message.kind == MessageKind::Eager || message.kind == MessageKind::Data;
}

}  // namespace

Network::Network(const NetworkConfig& config, std::uint32_t nodes, std::uint32_t ranks_per_node, EventQueue& events)
    : events_(events),
      topology_(*config.topology),
      ranks_per_node_(ranks_per_node),
      max_hops_(topology_.max_hops()),
      chunk_bytes_(config.chunk_bytes),
      link_time_(ByteTime::of_bandwidth(config.link.bandwidth_Bps)),
      nic_time_(ByteTime::of_bandwidth(config.host.nic_bandwidth_Bps)),
      intranode_time_(ByteTime::of_bandwidth(config.intranode.bandwidth_Bps)),
      link_latency_(to_picoseconds(config.link.latency_s)),
      switch_latency_(to_picoseconds(config.switch_latency_s)),
      nic_latency_(to_picoseconds(config.host.nic_latency_s)),
      gap_(to_picoseconds(config.host.gap_s)),
      intranode_latency_(to_picoseconds(config.intranode.latency_s)),
      links_(topology_.links()),
      nics_(nodes) {}

void Network::send(std::uint32_t index, Picoseconds time) {
  Message& message = messages_[index];
  message.complete = false;
  message.chunks = 1;
  message.chunk_bytes = 0;
  if (has_data(message) && message.bytes > 0) {
    // Longer chunks in place of more chunks: bytes / kMostChunks, rounded up.
    message.chunk_bytes = std::max(chunk_bytes_, (message.bytes - 1) / kMostChunks + 1);
    message.chunks = static_cast<std::uint8_t>((message.bytes - 1) / message.chunk_bytes + 1);
  }
  message.undelivered = message.chunks;

  auto from = static_cast<std::uint32_t>(message.source) / ranks_per_node_;
  auto to = static_cast<std::uint32_t>(message.destination) / ranks_per_node_;
  if (backwards(message)) std::swap(from, to);
  if (from == to) {
    message.hops = 0;
    events_.push(time + intranode_latency_, EventKind::IntranodeHead, index);
    return;
  }
  if (routes_.size() < messages_.capacity() * max_hops_) {
    routes_.resize(std::max(routes_.size() * 2, messages_.capacity() * max_hops_));
  }
  message.hops = static_cast<std::uint16_t>(
      topology_.extend({from, to, 0}, 0, route_of(index), LinkLoads(links_.data(), time)));
  events_.push(time, EventKind::Inject, index);
}

Progress Network::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::Hop:
      return hop(event);
    case EventKind::IntranodeHead:
      return intranode_head(event);
    default:
      return inject(event);
  }
}

Picoseconds Network::occupy(LinkId link, Picoseconds ready, std::uint64_t bytes) {
  LinkUse& use = links_[link];
  const Picoseconds start = std::max(ready, use.free);
  const Picoseconds duration = link_time_.of(bytes);
  use.free = start + duration;
  use.busy += duration;
  use.stall += start - ready;
  use.bytes += bytes;
  return start;
}

Progress Network::inject(const Event& event) {
  const Message& message = messages_[event.subject];
  const auto from = static_cast<std::uint32_t>(backwards(message) ? message.destination : message.source);
  Nic& nic = nics_[from / ranks_per_node_];
  if (event.chunk == 0 && event.kind == EventKind::Inject) {
    // The slot is taken now, in order of arrival; the NIC stays free for chunks of other messages until then.
    const Picoseconds slot = std::max(event.time, nic.next_injection);
    nic.next_injection = slot + gap_;
    if (slot > event.time) {
      events_.push(slot, EventKind::InjectGranted, event.subject);
      return {};
    }
  }
  const std::uint64_t bytes = size_of_chunk(message, event.chunk);
  const Picoseconds duration = nic_time_.of(bytes);
  const Picoseconds start = std::max(event.time, nic.inject_free);
  nic.inject_free = start + duration;

  // A NIC slower than the link: the link starts so late that it never waits for the tail.
  const Picoseconds ready = start + nic_latency_ + std::max<Picoseconds>(0, duration - link_time_.of(bytes));
  const Picoseconds link_start = occupy(route_of(event.subject)[0], ready, bytes);
  events_.push(link_start + link_latency_ + switch_latency_, EventKind::Hop, event.subject, event.chunk, 1);

  if (event.chunk + 1 < message.chunks) {
    events_.push(nic.inject_free, EventKind::Inject, event.subject, static_cast<std::uint8_t>(event.chunk + 1));
    return {};
  }
  Progress progress;
  progress.injected = true;
  progress.injected_at = nic.inject_free;
  return progress;
}

Progress Network::hop(const Event& event) {
  Message& message = messages_[event.subject];
  const std::uint64_t bytes = size_of_chunk(message, event.chunk);
  const Picoseconds start = occupy(route_of(event.subject)[event.hop], event.time, bytes);
  if (event.hop + 1 < message.hops) {
    events_.push(start + link_latency_ + switch_latency_, EventKind::Hop, event.subject, event.chunk,
                 static_cast<std::uint16_t>(event.hop + 1));
    return {};
  }

  const auto to = static_cast<std::uint32_t>(backwards(message) ? message.source : message.destination);
  Nic& nic = nics_[to / ranks_per_node_];
  const Picoseconds duration = nic_time_.of(bytes);
  Picoseconds ready = start + link_latency_ + std::max<Picoseconds>(0, link_time_.of(bytes) - duration);
  if (event.chunk == 0) {
    ready = std::max(ready, nic.next_ejection);
    nic.next_ejection = std::max(ready, nic.eject_free) + gap_;
  }
  nic.eject_free = std::max(ready, nic.eject_free) + duration;

  Progress progress;
  progress.head = event.chunk == 0;
  if (--message.undelivered == 0) {
    progress.complete = true;
    message.complete = true;
    message.complete_at = nic.eject_free + nic_latency_;
  }
  return progress;
}

// The processor copies through memory that both ranks see; copies of different pairs do not slow each other down.
Progress Network::intranode_head(const Event& event) {
  Message& message = messages_[event.subject];
  message.complete = true;
  message.complete_at = event.time + (has_data(message) ? intranode_time_.of(message.bytes) : 0);
  Progress progress;
  progress.head = true;
  progress.complete = true;
  progress.injected = true;
  progress.injected_at = message.complete_at;
  return progress;
}

}  // namespace manynode::fast
