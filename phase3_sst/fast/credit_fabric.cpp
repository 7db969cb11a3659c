#include "credit_fabric.hpp"

#include <algorithm>

#include "network.hpp"

namespace manynode::fast {

namespace {

// A chunk longer than chunk_bytes has at most this part of a buffer, so that a buffer is never full with one or two.
constexpr std::uint64_t kChunksPerBuffer = 8;

}  // namespace

CreditFabric::CreditFabric(Network& network, const NetworkConfig& config)
    : network_(network),
      channels_(config.topology->virtual_channels()),
      route_stride_(config.topology->max_hops()),
      lanes_(std::size_t{config.topology->links()} * channels_),
      ports_(config.topology->links()),
      queued_(config.topology->links()) {
  const BufferConfig buffers = config.buffers();
  most_chunk_bytes_ =
      std::max(config.chunk_bytes, std::min(buffers.input_bytes, buffers.output_bytes) / kChunksPerBuffer);
  for (Lane& lane : lanes_) {
    lane.output_room = static_cast<std::int64_t>(buffers.output_bytes);
    lane.credits = static_cast<std::int64_t>(buffers.input_bytes);
  }
}

void CreditFabric::push_back(Queue& queue, std::uint32_t packet) {
  packets_[packet].next = kNone;
  if (queue.first == kNone) {
    queue.first = packet;
  } else {
    packets_[queue.last].next = packet;
  }
  queue.last = packet;
}

std::uint32_t CreditFabric::pop_front(Queue& queue) {
  const std::uint32_t packet = queue.first;
  queue.first = packets_[packet].next;
  return packet;
}

std::uint32_t CreditFabric::make_packet(const Event& event, std::uint32_t chunk, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t index = packets_.take();
  const std::size_t room = packets_.capacity() * route_stride_;
  if (routes_.size() < room) routes_.resize(std::max(routes_.size() * 2, room));
  Packet& packet = packets_[index];
  packet.in_use = true;
  if (network_.own_routes_) packet.random = network_.draw();
  packet.ready = event.time;
  packet.message = event.subject;
  packet.chunk = chunk;
  packet.from_nic = from;
  packet.to_nic = to;
  packet.bytes = static_cast<std::int32_t>(event.bytes);
  packet.job = event.job;
  return index;
}

void CreditFabric::extend(std::uint32_t index) {
  Packet& packet = packets_[index];
  LinkId* route = route_of(index);
  const LinkLoads loads(network_.links_.data(), network_.events_.now(), queued_.data());
  const RouteRequest request{packet.from_nic, packet.to_nic, packet.random};
  packet.hops = static_cast<std::uint8_t>(network_.topology_.extend(request, packet.hops, route, loads));
  packet.whole = network_.topology_.host_behind(route[packet.hops - 1]) == packet.to_nic;
}

// The latency of the NIC is before its queue, so that the buffer behind the link is asked when the link begins.
void CreditFabric::send(std::uint32_t index, Picoseconds time) {
  const std::uint32_t chunks = network_.messages_[index].chunks;
  for (std::uint32_t chunk = 0; chunk < network_.lanes_ && chunk < chunks; ++chunk) {
    add_chunk(index, chunk, time + network_.nic_latency_);
  }
}

void CreditFabric::add_chunk(std::uint32_t index, std::uint32_t chunk, Picoseconds time) {
  const Message& message = network_.messages_[index];
  Event& event = network_.events_.push(Event{}, time);
  event.subject = index;
  event.bytes = static_cast<std::uint32_t>(network_.chunk_size(message, chunk));
  event.from = message.backwards() ? message.to_nic : message.from_nic;
  event.to = message.backwards() ? message.from_nic : message.to_nic;
  event.link = chunk;
  event.kind = EventKind::Inject;
  event.job = message.job & 0x1f;
}

Progress CreditFabric::inject(const Event& event) {
  const std::uint32_t chunk = event.link;
  std::uint32_t from = event.from;
  std::uint32_t to = event.to;
  network_.choose_rail(chunk, from, to);
  if (chunk == 0 && network_.waits_for_gap(event, from)) return {};
  const std::uint32_t packet = make_packet(event, chunk, from, to);
  extend(packet);
  packets_[packet].lane = route_of(packet)[0] * channels_;
  enqueue(packet);
  return {};
}

Progress CreditFabric::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::PacketArrives:
      return arrive(event.subject);
    case EventKind::LinkFree:
      if (ports_[event.subject].wake == event.time) ports_[event.subject].wake = kNever;
      serve(event.subject);
      return {};
    default:  // Credit
      lanes_[event.subject].credits += static_cast<std::int64_t>(event.bytes);
      serve(link_of(event.subject));
      return {};
  }
}

Progress CreditFabric::arrive(std::uint32_t index) {
  Packet& packet = packets_[index];
  if (packet.whole && packet.hop + 1 == packet.hops) return deliver(index);
  ++packet.hop;
  packet.ready = network_.events_.now();
  const LaneId input = packet.lane;
  const bool first = lanes_[input].input.first == kNone;
  push_back(lanes_[input].input, index);
  if (first) advance(input);
  return {};
}

Progress CreditFabric::deliver(std::uint32_t index) {
  const Packet packet = packets_[index];
  packets_.release(index);
  const Progress progress = network_.eject(packet.message, packet.to_nic, packet.chunk == 0, link_of(packet.lane),
                                           network_.events_.now(), packet.bytes);
  // The NIC takes a chunk out of its buffer when it begins with it.
  const Picoseconds taken = network_.nics_[packet.to_nic].eject_free - network_.nic_time_.of(packet.bytes);
  return_credit(packet.lane, packet.bytes, taken);
  return progress;
}

void CreditFabric::advance(LaneId input) {
  while (lanes_[input].input.first != kNone) {
    const std::uint32_t index = lanes_[input].input.first;
    choose_lane(index, input);
    Packet& packet = packets_[index];
    Lane& output = lanes_[packet.lane];
    if (output.waiting != kNone || output.output_room < packet.bytes) {
      lanes_[input].next_waiting = output.waiting;
      output.waiting = input;
      return;
    }
    cross(input);
  }
}

void CreditFabric::choose_lane(std::uint32_t index, LaneId input) {
  if (packets_[index].hop == packets_[index].hops) extend(index);
  Packet& packet = packets_[index];
  const LinkId before = link_of(input);
  const LinkId link = route_of(index)[packet.hop];
  const auto channel = static_cast<std::uint8_t>(input % channels_);
  packet.lane = link * channels_ + network_.topology_.virtual_channel(before, channel, link);
  if (!network_.one_rate_) packet.ready += network_.wait_for_tail(before, link, packet.bytes);
}

void CreditFabric::cross(LaneId input) {
  Lane& lane = lanes_[input];
  const std::uint32_t packet = pop_front(lane.input);
  lane.served = ++turns_;
  return_credit(input, packets_[packet].bytes, network_.events_.now());
  enqueue(packet);
}

CreditFabric::LaneId* CreditFabric::least_recently_served(LaneId output) {
  LaneId* least = &lanes_[output].waiting;
  for (LaneId* place = least; *place != kNone; place = &lanes_[*place].next_waiting) {
    if (lanes_[*place].served < lanes_[*least].served) least = place;
  }
  return least;
}

void CreditFabric::admit(LaneId output) {
  while (lanes_[output].waiting != kNone) {
    LaneId* place = least_recently_served(output);
    const LaneId input = *place;
    if (lanes_[output].output_room < packets_[lanes_[input].input.first].bytes) return;
    *place = lanes_[input].next_waiting;
    cross(input);
    advance(input);
  }
}

void CreditFabric::enqueue(std::uint32_t index) {
  const Packet& packet = packets_[index];
  const LinkId link = link_of(packet.lane);
  LinkUse& use = network_.links_[link];
  const Picoseconds backlog = std::max<Picoseconds>(0, use.free - network_.events_.now()) + queued_[link];
  use.longest_wait = std::max(use.longest_wait, backlog);
  queued_[link] += network_.classes_[use.link_class].time.of(packet.bytes);
  ++ports_[link].packets;
  lanes_[packet.lane].output_room -= packet.bytes;
  push_back(lanes_[packet.lane].output, index);
  serve(link);
}

void CreditFabric::serve(LinkId link) {
  while (ports_[link].packets > 0) {
    const Picoseconds free = network_.links_[link].free;
    if (free > network_.events_.now()) return wake(link, free);
    if (!start_one(link)) return;
  }
}

bool CreditFabric::start_one(LinkId link) {
  const Picoseconds now = network_.events_.now();
  Port& port = ports_[link];
  Picoseconds earliest = kNever;
  for (std::uint32_t i = 0; i < channels_; ++i) {
    const std::uint32_t channel = port.turn + i < channels_ ? port.turn + i : port.turn + i - channels_;
    const LaneId lane = link * channels_ + channel;
    if (lanes_[lane].output.first == kNone) continue;
    const Packet& packet = packets_[lanes_[lane].output.first];
    if (packet.bytes > lanes_[lane].credits) continue;
    if (packet.ready > now) {
      earliest = std::min(earliest, packet.ready);
      continue;
    }
    port.turn = channel + 1 < channels_ ? channel + 1 : 0;
    start(lane);
    return true;
  }
  if (earliest != kNever) wake(link, earliest);
  return false;
}

void CreditFabric::start(LaneId id) {
  const Picoseconds now = network_.events_.now();
  Lane& lane = lanes_[id];
  const LinkId link = link_of(id);
  LinkUse& use = network_.links_[link];
  const auto& link_class = network_.classes_[use.link_class];
  const std::uint32_t index = pop_front(lane.output);
  const Packet& packet = packets_[index];
  const Picoseconds duration = link_class.time.of(packet.bytes);
  --ports_[link].packets;
  queued_[link] -= duration;
  lane.output_room += packet.bytes;
  lane.credits -= packet.bytes;

  Picoseconds begin = now;
  Picoseconds ready = packet.ready;
  if (packet.hop == 0) {
    // The NIC is part of the host's link: waiting for the NIC is no stall of the link, and where the NIC is slower, the
    // link begins so late that it never waits for the tail.
    ready = std::max(ready, use.free);
    const Picoseconds nic_duration = network_.nic_time_.of(packet.bytes);
    begin += std::max<Picoseconds>(0, nic_duration - duration);
    const std::uint32_t next = packet.chunk + network_.lanes_;
    if (next < network_.messages_[packet.message].chunks) add_chunk(packet.message, next, now + nic_duration);
  }
  use.free = begin + duration;
  network_.count(use, packet.bytes, duration, now - ready, packet.job);

  const bool last = packet.whole && packet.hop + 1 == packet.hops;
  Event& event = network_.events_.push(Event{}, last ? now : begin + link_class.to_next);
  event.subject = index;
  event.kind = EventKind::PacketArrives;
  admit(id);
}

void CreditFabric::wake(LinkId link, Picoseconds time) {
  if (ports_[link].wake <= time) return;
  ports_[link].wake = time;
  Event& event = network_.events_.push(Event{}, time);
  event.subject = link;
  event.kind = EventKind::LinkFree;
}

void CreditFabric::return_credit(LaneId lane, std::int32_t bytes, Picoseconds time) {
  if (bytes == 0) return;
  const auto link_class = network_.links_[link_of(lane)].link_class;
  Event& event = network_.events_.push(Event{}, time + network_.classes_[link_class].to_next);
  event.subject = lane;
  event.bytes = static_cast<std::uint32_t>(bytes);
  event.kind = EventKind::Credit;
}

}  // namespace manynode::fast
