#include "credit_fabric.hpp"

#include <algorithm>
#include <bit>

#include "network.hpp"

namespace manynode::network {

namespace {

// A chunk longer than chunk_bytes takes at most this part of a buffer; one or two chunks never fill a buffer.
constexpr std::uint64_t kChunksPerBuffer = 8;

}  // namespace

CreditFabric::CreditFabric(Network& network, const NetworkConfig& config)
    : network_(network),
      channels_(config.topology->virtual_channels()),
      channel_bits_(static_cast<unsigned>(std::bit_width(channels_ - 1))),
      route_stride_(config.topology->max_hops()),
      lanes_(std::size_t{config.topology->links()} << channel_bits_),
      ports_(config.topology->links()) {
  const BufferConfig buffers = config.buffers();
  most_chunk_bytes_ =
      std::max(config.chunk_bytes, std::min(buffers.input_bytes, buffers.output_bytes) / kChunksPerBuffer);
  for (Lane& lane : lanes_) {
    lane.output_room = static_cast<std::int64_t>(buffers.output_bytes);
    lane.credits = static_cast<std::int64_t>(buffers.input_bytes);
  }
}

template <typename Record>
void CreditFabric::push_back(Queue& queue, Pool<Record>& records, std::uint32_t index) {
  records[index].next = kNone;
  if (queue.first == kNone) {
    queue.first = index;
  } else {
    records[queue.last].next = index;
  }
  queue.last = index;
}

template <typename Record>
std::uint32_t CreditFabric::pop_front(Queue& queue, Pool<Record>& records) {
  const std::uint32_t index = queue.first;
  queue.first = records[index].next;
  return index;
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
  const LinkLoads loads(network_.links_.data(), network_.events_.now());
  const RouteRequest request{packet.from_nic, packet.to_nic, packet.random};
  packet.hops = static_cast<std::uint8_t>(network_.topology_.extend(request, packet.hops, route, loads));
  packet.whole = network_.topology_.host_behind(route[packet.hops - 1]) == packet.to_nic;
}

// The NIC's latency comes before its queue; the buffer behind the link is checked when the link starts.
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
  if (chunk == 0 && event.kind == EventKind::Inject) {
    const Picoseconds slot = network_.take_slot(event, from);
    if (slot > event.time) {
      network_.grant(event, from, slot);
      return {};
    }
  }
  const std::uint32_t packet = make_packet(event, chunk, from, to);
  extend(packet);
  packets_[packet].lane = lane_of(route_of(packet)[0], 0);
  enqueue(packet);
  return {};
}

Progress CreditFabric::handle(const Event& event) {
  prefetch();
  if (event.kind == EventKind::PacketArrives) return arrive(event.subject);
  if (ports_[event.subject].wake == event.time) ports_[event.subject].wake = kNever;
  serve(event.subject);
  return {};
}

// As in Replica::prefetch: first the packet, then its arrival, then its next hop.
void CreditFabric::prefetch() const {
  constexpr std::size_t kFar = 28;
  constexpr std::size_t kMiddle = 18;
  constexpr std::size_t kNear = 9;
  const EventQueue& events = network_.events_;
  const auto arriving = [&](std::size_t ahead) {
    const Event* event = events.upcoming(ahead);
    return event != nullptr && event->kind == EventKind::PacketArrives ? event->subject : kNone;
  };
  if (const std::uint32_t index = arriving(kFar); index != kNone) fetch_ahead(&packets_[index]);
  if (const std::uint32_t index = arriving(kMiddle); index != kNone) {
    const Packet& packet = packets_[index];
    fetch_ahead(&lanes_[packet.lane]);
    if (packet.hop + 1 < packet.hops) fetch_ahead(&route_of(index)[packet.hop + 1]);
  }
  if (const std::uint32_t index = arriving(kNear); index != kNone) {
    const Packet& packet = packets_[index];
    if (packet.hop + 1 < packet.hops) fetch_link(route_of(index)[packet.hop + 1], channel_of(packet.lane));
  }
  if (const Event* event = events.upcoming(kMiddle); event != nullptr && event->kind == EventKind::LinkFree) {
    for (std::uint32_t channel = 0; channel < channels_; ++channel) fetch_link(event->subject, channel);
  }
  if (const Event* event = events.upcoming(kNear); event != nullptr && event->kind == EventKind::LinkFree) {
    for (std::uint32_t channel = 0; channel < channels_; ++channel) {
      const Lane& lane = lanes_[lane_of(event->subject, channel)];
      if (lane.output.first != kNone) fetch_ahead(&packets_[lane.output.first]);
      if (lane.returning.first != kNone) fetch_ahead(&credits_[lane.returning.first]);
    }
  }
}

void CreditFabric::fetch_link(LinkId link, std::uint32_t channel) const {
  fetch_ahead(&network_.links_[link]);
  fetch_ahead(&lanes_[lane_of(link, channel)]);
  fetch_ahead(&ports_[link]);
}

Progress CreditFabric::arrive(std::uint32_t index) {
  Packet& packet = packets_[index];
  if (packet.whole && packet.hop + 1 == packet.hops) return deliver(index);
  ++packet.hop;
  packet.ready = network_.events_.now();
  const LaneId input = packet.lane;
  const bool first = lanes_[input].input.first == kNone;
  push_back(lanes_[input].input, packets_, index);
  if (first) advance(input);
  return {};
}

Progress CreditFabric::deliver(std::uint32_t index) {
  const Packet packet = packets_[index];
  packets_.release(index);
  const Progress progress = network_.eject(packet.message, packet.to_nic, packet.chunk == 0, link_of(packet.lane),
                                           network_.events_.now(), packet.bytes);
  // The NIC removes a chunk from its buffer when it starts to take it in.
  const Picoseconds taken = network_.receivers_[packet.to_nic].free - network_.nic_time_.of(packet.bytes);
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
      block(input);
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
  packet.lane = lane_of(link, network_.topology_.virtual_channel(before, channel_of(input), link));
  if (!network_.one_rate_) packet.ready += network_.wait_for_tail(before, link, packet.bytes);
}

void CreditFabric::cross(LaneId input) {
  Lane& lane = lanes_[input];
  const std::uint32_t packet = pop_front(lane.input, packets_);
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
    unblock(input);
    cross(input);
    advance(input);
  }
}

void CreditFabric::block(LaneId input) {
  Port& port = ports_[link_of(input)];
  if (port.blocked++ == 0) port.blocked_since = network_.events_.now();
}

void CreditFabric::unblock(LaneId input) {
  Port& port = ports_[link_of(input)];
  if (--port.blocked == 0) port.inq_stall += network_.events_.now() - port.blocked_since;
}

LinkStalls CreditFabric::stalls(LinkId link, Picoseconds until) const {
  const Port& port = ports_[link];
  LinkStalls stalls{port.credit_stall, port.inq_stall};
  if (port.stalled_since < until) stalls.credit += until - port.stalled_since;
  if (port.blocked > 0) stalls.inq += std::max<Picoseconds>(0, until - port.blocked_since);
  return stalls;
}

void CreditFabric::enqueue(std::uint32_t index) {
  const Packet& packet = packets_[index];
  const LinkId link = link_of(packet.lane);
  LinkUse& use = network_.links_[link];
  const Picoseconds backlog = std::max<Picoseconds>(0, use.free - network_.events_.now()) + use.queued;
  use.longest_wait = std::max(use.longest_wait, backlog);
  use.queued += network_.classes_[use.link_class].time.of(packet.bytes);
  if (use.queued > kLongestBacklog) [[unlikely]]
    end_of_time();
  ++ports_[link].packets;
  lanes_[packet.lane].output_room -= packet.bytes;
  push_back(lanes_[packet.lane].output, packets_, index);
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
  Picoseconds ready = kNever;
  for (std::uint32_t i = 0; i < channels_; ++i) {
    const std::uint32_t channel = port.turn + i < channels_ ? port.turn + i : port.turn + i - channels_;
    const LaneId lane = lane_of(link, channel);
    if (lanes_[lane].output.first == kNone) continue;
    const Packet& packet = packets_[lanes_[lane].output.first];
    const Picoseconds possible = std::max(packet.ready, room_at(lanes_[lane], packet.bytes));
    if (possible > now) {
      earliest = std::min(earliest, possible);
      ready = std::min(ready, std::max(packet.ready, now));
      continue;
    }
    port.turn = channel + 1 < channels_ ? channel + 1 : 0;
    start(lane);
    return true;
  }
  if (earliest != kNever) wake(link, earliest);
  port.stalled_since = std::min(port.stalled_since, ready);
  return false;
}

void CreditFabric::start(LaneId id) {
  const Picoseconds now = network_.events_.now();
  Lane& lane = lanes_[id];
  const LinkId link = link_of(id);
  LinkUse& use = network_.links_[link];
  const auto& link_class = network_.classes_[use.link_class];
  const std::uint32_t index = pop_front(lane.output, packets_);
  const Packet& packet = packets_[index];
  const Picoseconds duration = link_class.time.of(packet.bytes);
  Port& port = ports_[link];
  --port.packets;
  if (port.stalled_since != kNever) {
    if (network_.injection_ && packet.hop == 0) network_.injection_->stall_ends(packet.from_nic);
    // The wait may have been for the rest of a packet from a slower link, which is no stall.
    port.credit_stall += std::max<Picoseconds>(0, now - port.stalled_since);
    port.stalled_since = kNever;
  }
  use.queued -= duration;
  lane.output_room += packet.bytes;
  lane.credits -= packet.bytes;

  Picoseconds begin = now;
  Picoseconds ready = packet.ready;
  if (packet.hop == 0) {
    // The NIC is part of the host's link, so waiting for it is no stall of the link. If the NIC is slower, the link
    // starts late enough that it never waits for the tail.
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

Picoseconds CreditFabric::room_at(Lane& lane, std::int32_t bytes) {
  const Picoseconds now = network_.events_.now();
  while (lane.returning.first != kNone && credits_[lane.returning.first].time <= now) {
    const std::uint32_t credit = pop_front(lane.returning, credits_);
    lane.credits += credits_[credit].bytes;
    credits_.release(credit);
  }
  if (lane.credits >= bytes) return now;
  std::int64_t sum = lane.credits;
  for (std::uint32_t credit = lane.returning.first; credit != kNone; credit = credits_[credit].next) {
    sum += credits_[credit].bytes;
    if (sum >= bytes) return credits_[credit].time;
  }
  lane.starved = true;
  return kNever;
}

void CreditFabric::return_credit(LaneId id, std::int32_t bytes, Picoseconds time) {
  if (bytes == 0) return;
  Lane& lane = lanes_[id];
  const LinkId link = link_of(id);
  const std::uint32_t credit = credits_.take();
  credits_[credit].in_use = true;
  credits_[credit].time = time + network_.classes_[network_.links_[link].link_class].to_next;
  credits_[credit].bytes = bytes;
  push_back(lane.returning, credits_, credit);
  if (!lane.starved) return;
  lane.starved = false;
  wake(link, credits_[credit].time);
}

}  // namespace manynode::network
