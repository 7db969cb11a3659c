#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "end_of_time.hpp"

namespace manynode::network {

namespace {

bool has_data(const Message& message) {
  return message.kind != MessageKind::RequestToSend && message.kind != MessageKind::ClearToSend &&
         message.kind != MessageKind::Acknowledgement;
}

// SplitMix64 (Steele, Lea and Flood, 2014): numbers without a pattern from a counter.
std::uint64_t mixed(std::uint64_t counter) {
  counter = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9u;
  counter = (counter ^ (counter >> 27)) * 0x94d049bb133111ebu;
  return counter ^ (counter >> 31);
}

// Bytes by which rates are compared.
constexpr std::uint64_t kMuch = 1'000'000'000;

// As a floating-point number, because a slow link may exceed the range of times.
double time_of_much(ByteTime time) { return std::nearbyint(time.picoseconds(kMuch)); }

// A processor that receives a message is busy from its first byte to its last, so the message must be one event.
constexpr std::uint64_t kWhole = std::uint64_t{1} << 31;

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15u;

}  // namespace

Network::Network(const NetworkConfig& config, std::size_t jobs, std::uint64_t seed, EventQueue& events)
    : config_(config),
      events_(events),
      topology_(*config.topology),
      own_routes_(topology_.adaptive() || (config.host.rails > 1 && config.host.rail_choice == RailChoice::Striped)),
      contention_(config.contention),
      rails_(config.host.rails),
      lanes_(static_cast<std::uint8_t>(config.host.rail_choice == RailChoice::Striped ? config.host.rails : 1)),
      route_stride_(topology_.max_hops()),
      chunk_bytes_(config.host.receive == Receive::OnArrival ? kWhole : config.chunk_bytes),
      most_chunks_(config.most_chunks),
      nic_time_(ByteTime::of_bandwidth(config.host.nic_bandwidth_Bps)),
      intranode_time_(ByteTime::of_bandwidth(config.intranode.bandwidth_Bps)),
      nic_latency_(to_picoseconds(config.host.nic_latency_s)),
      message_latency_(config.host.message_latency),
      gap_(to_picoseconds(config.host.gap_s)),
      intranode_latency_(to_picoseconds(config.intranode.latency_s)),
      chance_(mixed(seed)),
      links_(topology_.links()),
      senders_(topology_.hosts()),
      receivers_(topology_.hosts()) {
  messages_.take();  // kNoMessage
  const Picoseconds switch_latency = to_picoseconds(config.switch_latency_s);
  for (const auto& name : topology_.link_classes()) {
    const LinkConfig& link = config.link_of_class(name);
    const Picoseconds latency = to_picoseconds(link.latency_s);
    classes_.push_back({ByteTime::of_bandwidth(link.bandwidth_Bps), latency + switch_latency, latency});
  }
  for (LinkId link = 0; link < links_.size(); ++link) links_[link].link_class = topology_.link_class(link);
  for (const LinkClass& link_class : classes_) {
    one_rate_ = one_rate_ && time_of_much(link_class.time) == time_of_much(classes_.front().time);
  }
  if (jobs > 1) class_uses_.resize(jobs * classes_.size());
  if (config.flow_control == FlowControl::Credits) {
    fabric_ = std::make_unique<CreditFabric>(*this, config);
    most_chunk_bytes_ = fabric_->most_chunk_bytes();
  }
  most_bytes_ = most_message_bytes();
  most_intranode_bytes_ = most_intranode_message_bytes();
}

void Network::control_injection(const RunConfig& config) {
  if (config.controls_injection()) injection_ = std::make_unique<InjectionControl>(*this, events_, config);
}

LinkId Network::first_link(std::uint32_t nic) const {
  const std::uint32_t plane = topology_.hosts() / topology_.planes();
  if (plane < 2) return kNone;
  std::vector<LinkId> route(route_stride_);
  const RouteRequest request{nic, nic % plane + 1 == plane ? nic + 1 - plane : nic + 1};
  topology_.extend(request, 0, route.data(), LinkLoads(links_.data(), events_.now()));
  return route[0];
}

// Longer chunks instead of more chunks: bytes / most_chunks_, rounded up.
std::uint64_t Network::chunk_size(const Message& message, std::uint32_t chunk) const {
  if (!has_data(message) || message.bytes == 0) return 0;
  if (message.bytes <= chunk_bytes_) return message.bytes;
  const std::uint64_t size =
      std::min(std::max(chunk_bytes_, (message.bytes - 1) / most_chunks_ + 1), most_chunk_bytes_);
  return std::min(size, message.bytes - chunk * size);
}

void Network::send(std::uint32_t index, Picoseconds time) {
  Message& message = messages_[index];
  message.chunks = 1;
  message.complete_at = 0;
  if (has_data(message) && message.bytes > chunk_bytes_) {
    message.chunks = static_cast<std::uint32_t>((message.bytes - 1) / chunk_size(message, 0) + 1);
  }
  message.undelivered = message.chunks;

  if (message.from_nic == message.to_nic) {
    Event& event = events_.push(Event{}, time + intranode_latency_);
    event.subject = index;
    event.kind = EventKind::IntranodeHead;
    return;
  }
  if (fabric_) return fabric_->send(index, time);
  const std::uint32_t from = message.backwards() ? message.to_nic : message.from_nic;
  const std::uint32_t to = message.backwards() ? message.from_nic : message.to_nic;
  const std::uint32_t hops = own_routes_ ? 0 : topology_.hops(from, to);
  const LinkId first_link = own_routes_ ? 0 : topology_.link_at(from, to, 0, hops);
  for (std::uint32_t chunk = 0; chunk < lanes_ && chunk < message.chunks; ++chunk) {
    Event& event = events_.push(Event{}, time);
    event.subject = index;
    event.bytes = static_cast<std::uint32_t>(chunk_size(message, chunk));
    event.from = from;
    event.to = to;
    event.link = first_link;
    event.hops = static_cast<std::uint8_t>(hops);
    event.kind = EventKind::Inject;
    event.job = message.job & 0x1f;
    event.chunk = chunk & 0x7f;
    event.alone = message.chunks == 1;
  }
}

Progress Network::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::Hop:
      return own_routes_ ? hop_of_flight(event) : hop(event);
    case EventKind::IntranodeHead:
      return intranode_head(event);
    case EventKind::PacketArrives:
    case EventKind::LinkFree:
      return fabric_->handle(event);
    default:
      if (injection_) return controlled(event);
      return fabric_ ? fabric_->inject(event) : inject(event);
  }
}

Picoseconds Network::occupy(LinkId link, Picoseconds ready, std::uint64_t bytes, std::uint16_t job) {
  LinkUse& use = links_[link];
  const Picoseconds start = contention_ ? std::max(ready, use.free) : ready;
  const Picoseconds duration = classes_[use.link_class].time.of(bytes);
  const Picoseconds wait = start - ready;
  use.free = start + duration;
  use.longest_wait = std::max(use.longest_wait, wait);
  count(use, bytes, duration, wait, job);
  return start;
}

inline void Network::count(LinkUse& use, std::uint64_t bytes, Picoseconds duration, Picoseconds wait,
                           std::uint16_t job) {
  if (__builtin_add_overflow(use.busy, duration, &use.busy)) [[unlikely]]
    refuse_count(use);
  if (__builtin_add_overflow(use.stall, wait, &use.stall)) [[unlikely]]
    refuse_count(use);
  use.bytes += bytes;
  ++use.chunks;
  if (!class_uses_.empty()) {
    ClassUse& of_job = class_uses_[job * classes_.size() + use.link_class];
    of_job.bytes += bytes;
    ++of_job.chunks;
    of_job.busy += duration;
    of_job.stall += wait;
  }
}

inline void Network::choose_rail(std::uint32_t chunk, std::uint32_t& from, std::uint32_t& to) const {
  if (lanes_ == 1) return;
  const HostConfig& host = config_.host;
  const std::uint32_t own = host.rail_of(from);
  const std::uint32_t rail = (own + chunk) % rails_;
  from += (rail - own) * host.rail_stride;
  to += (rail - host.rail_of(to)) * host.rail_stride;
}

// In order of arrival.
inline Picoseconds Network::take_slot(const Event& event, std::uint32_t nic) {
  const Picoseconds slot = std::max(event.time, senders_[nic].next);
  senders_[nic].next = slot + gap_;
  return slot;
}

inline void Network::grant(const Event& event, std::uint32_t nic, Picoseconds time) {
  senders_[nic].last_event = std::max(senders_[nic].last_event, time);
  events_.push(event, time).kind = EventKind::InjectGranted;
}

// With flow control, the chunk's number is in Event::link.
Progress Network::controlled(const Event& event) {
  std::uint32_t from = event.from;
  std::uint32_t to = event.to;
  choose_rail(fabric_ ? event.link : event.chunk, from, to);
  if (event.kind == EventKind::Inject && injection_->holds(event, from)) return {};
  Event turn = event;
  turn.hop = 0;
  return fabric_ ? fabric_->inject(turn) : inject(turn);
}

Progress Network::inject(const Event& event) {
  std::uint32_t from = event.from;
  std::uint32_t to = event.to;
  choose_rail(event.chunk, from, to);
  Sender& nic = senders_[from];
  Picoseconds time = event.time;
  if (event.chunk == 0 && event.kind == EventKind::Inject) {
    time = take_slot(event, from);
    // The NIC stays free for chunks of other messages until then. Where none can come, the slot is as good as there:
    // what comes to the NIC from now on gets a later one. A route that depends on load is chosen when it begins, and
    // chunks that are held back come when they may.
    if (time > event.time && (own_routes_ || injection_ || nic.last_event >= event.time)) {
      grant(event, from, time);
      return {};
    }
  }
  const Picoseconds duration = nic_time_.of(event.bytes);
  const Picoseconds start = std::max(time, nic.free);
  nic.free = start + duration;

  LinkId link = event.link;
  LinkId next_link = 0;
  std::uint32_t subject = event.subject;
  if (own_routes_) {
    subject = start_flight(event.subject, event.chunk, from, to);
    extend(subject, event.time);
    link = route_of(subject)[0];
  } else {
    next_link = topology_.link_at(from, to, 1, event.hops);
  }
  const LinkClass& link_class = classes_[links_[link].link_class];
  // If the NIC is slower than the link, the link starts late enough that it never waits for the tail.
  const Picoseconds ready = start + nic_latency_ + std::max<Picoseconds>(0, duration - link_class.time.of(event.bytes));
  Event& next = events_.push(event, occupy(link, ready, event.bytes, event.job) + link_class.to_next);
  next.subject = subject;
  next.from = from;
  next.to = to;
  next.link = next_link;
  next.hop = 1;
  next.kind = EventKind::Hop;
  if (event.alone) return {};

  const Message& message = messages_[event.subject];
  if (static_cast<std::uint32_t>(event.chunk + lanes_) < message.chunks) {
    nic.last_event = std::max(nic.last_event, nic.free);
    Event& chunk = events_.push(event, nic.free);
    chunk.kind = EventKind::Inject;
    chunk.chunk = static_cast<std::uint8_t>((event.chunk + lanes_) & 0x7f);
    chunk.bytes = static_cast<std::uint32_t>(chunk_size(message, chunk.chunk));
  }
  return {};
}

// A chunk from a slower link must wait for its own tail: the head may continue at once, but the faster link starts late
// enough that it never runs dry.
Picoseconds Network::wait_for_tail(LinkId before, LinkId link, std::uint64_t bytes) const {
  const Picoseconds slow = classes_[links_[before].link_class].time.of(bytes);
  return std::max<Picoseconds>(0, slow - classes_[links_[link].link_class].time.of(bytes));
}

Progress Network::hop(const Event& event) {
  const LinkId link = event.link;
  Picoseconds ready = event.time;
  if (!one_rate_) {
    ready += wait_for_tail(topology_.link_at(event.from, event.to, event.hop - 1u, event.hops), link, event.bytes);
  }
  const Picoseconds start = occupy(link, ready, event.bytes, event.job);
  if (event.hop + 1 < event.hops) {
    const LinkId next_link = topology_.link_at(event.from, event.to, event.hop + 1u, event.hops);
    Event& next = events_.push(event, start + classes_[links_[link].link_class].to_next);
    next.link = next_link;
    next.hop = static_cast<std::uint8_t>(event.hop + 1);
    return {};
  }
  return eject(event.subject, event.to, event.chunk == 0, link, start, event.bytes);
}

Progress Network::hop_of_flight(const Event& event) {
  if (event.hop == flights_[event.subject].hops) extend(event.subject, event.time);
  const Flight flight = flights_[event.subject];
  const LinkId link = route_of(event.subject)[event.hop];
  Picoseconds ready = event.time;
  if (!one_rate_) ready += wait_for_tail(route_of(event.subject)[event.hop - 1], link, event.bytes);
  const Picoseconds start = occupy(link, ready, event.bytes, event.job);
  if (event.hop + 1 < flight.hops || !flight.whole) {
    Event& next = events_.push(event, start + classes_[links_[link].link_class].to_next);
    next.hop = static_cast<std::uint8_t>(event.hop + 1);
    return {};
  }
  flights_.release(event.subject);
  return eject(flight.message, flight.to_nic, flight.chunk == 0, link, start, event.bytes);
}

Progress Network::eject(std::uint32_t index, std::uint32_t to, bool head, LinkId last, Picoseconds start,
                        std::uint64_t bytes) {
  Message& message = messages_[index];
  Receiver& nic = receivers_[to];
  const LinkClass& link_class = classes_[links_[last].link_class];
  const Picoseconds duration = nic_time_.of(bytes);
  Picoseconds ready = start + link_class.latency + std::max<Picoseconds>(0, link_class.time.of(bytes) - duration);
  if (head) {
    ready = std::max(ready, nic.next);
    nic.next = std::max(ready, nic.free) + gap_;
  }
  nic.free = std::max(ready, nic.free) + duration;
  message.complete_at = std::max(message.complete_at, nic.free + nic_latency_);

  Progress progress;
  progress.message = index;
  progress.head = head;
  progress.complete = --message.undelivered == 0;
  if (progress.complete && has_data(message)) message.complete_at += message_latency_.of_any(message.bytes);
  if (message.complete_at > kEndOfTime) [[unlikely]]
    end_of_time();
  return progress;
}

std::uint64_t Network::draw() { return mixed(chance_ += kGoldenGamma); }

std::uint32_t Network::start_flight(std::uint32_t message, std::uint8_t chunk, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t index = flights_.take();
  const std::size_t room = flights_.capacity() * route_stride_;
  if (routes_.size() < room) routes_.resize(std::max(routes_.size() * 2, room));
  Flight& flight = flights_[index];
  flight.in_use = true;
  flight.random = draw();
  flight.message = message;
  flight.from_nic = from;
  flight.to_nic = to;
  flight.chunk = chunk;
  return index;
}

void Network::extend(std::uint32_t index, Picoseconds time) {
  Flight& flight = flights_[index];
  LinkId* route = route_of(index);
  const RouteRequest request{flight.from_nic, flight.to_nic, flight.random};
  flight.hops =
      static_cast<std::uint8_t>(topology_.extend(request, flight.hops, route, LinkLoads(links_.data(), time)));
  flight.whole = topology_.host_behind(route[flight.hops - 1]) == flight.to_nic;
}

// The processor copies through shared memory; copies of different pairs do not slow each other down.
Progress Network::intranode_head(const Event& event) {
  Message& message = messages_[event.subject];
  message.undelivered = 0;
  message.complete_at = later(event.time, has_data(message) ? intranode_time_.of(message.bytes) : 0);
  return {event.subject, true, true};
}

double Network::bytes_in(Picoseconds duration, std::uint8_t link_class) const {
  return static_cast<double>(duration) * static_cast<double>(kMuch) / time_of_much(classes_[link_class].time);
}

std::vector<ClassUse> Network::class_uses() const {
  if (!class_uses_.empty()) return class_uses_;
  std::vector<ClassUse> sums(classes_.size());
  for (const LinkUse& use : links_) {
    ClassUse& sum = sums[use.link_class];
    sum.bytes += use.bytes;
    sum.chunks += use.chunks;
    sum.busy += use.busy;
    sum.stall += use.stall;
  }
  return sums;
}

}  // namespace manynode::network
