#include "network.hpp"

#include <algorithm>
#include <bit>

namespace manynode::fast {

namespace {

// A clear to send travels from the receiver to the sender.
bool backwards(const Message& message) { return message.kind == MessageKind::ClearToSend; }

bool has_data(const Message& message) {
  return message.kind == MessageKind::Eager || message.kind == MessageKind::Data;
}

// SplitMix64 (Steele, Lea and Flood, 2014): numbers without a pattern from a counter.
std::uint64_t mixed(std::uint64_t counter) {
  counter = (counter ^ (counter >> 30)) * 0xbf58476d1ce4e5b9u;
  counter = (counter ^ (counter >> 27)) * 0x94d049bb133111ebu;
  return counter ^ (counter >> 31);
}

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15u;

// Routes of a power of two of links do not straddle cache lines more than they must.
std::uint32_t stride_for(std::uint32_t hops) { return hops <= 16 ? std::bit_ceil(hops) : hops; }

}  // namespace

Network::Network(const NetworkConfig& config, std::size_t jobs, std::uint64_t seed, EventQueue& events)
    : events_(events),
      topology_(*config.topology),
      own_routes_(topology_.adaptive() || (config.host.rails > 1 && config.host.rail_choice == RailChoice::Striped)),
      contention_(config.contention),
      rails_(config.host.rails),
      lanes_(static_cast<std::uint8_t>(config.host.rail_choice == RailChoice::Striped ? config.host.rails : 1)),
      route_stride_(stride_for(topology_.max_hops())),
      chunk_bytes_(config.chunk_bytes),
      nic_time_(ByteTime::of_bandwidth(config.host.nic_bandwidth_Bps)),
      intranode_time_(ByteTime::of_bandwidth(config.intranode.bandwidth_Bps)),
      nic_latency_(to_picoseconds(config.host.nic_latency_s)),
      gap_(to_picoseconds(config.host.gap_s)),
      intranode_latency_(to_picoseconds(config.intranode.latency_s)),
      chance_(mixed(seed)),
      links_(topology_.links()),
      nics_(topology_.hosts()),
      jobs_(jobs) {
  const Picoseconds switch_latency = to_picoseconds(config.switch_latency_s);
  for (const auto& name : topology_.link_classes()) {
    const LinkConfig& link = config.link_of_class(name);
    const Picoseconds latency = to_picoseconds(link.latency_s);
    classes_.push_back({ByteTime::of_bandwidth(link.bandwidth_Bps), latency + switch_latency, latency});
  }
  for (LinkId link = 0; link < links_.size(); ++link) links_[link].link_class = topology_.link_class(link);
  if (jobs_ > 1) class_uses_.resize(jobs_ * classes_.size());
}

void Network::make_room_for_routes(std::size_t subjects) {
  if (routes_.size() < subjects * route_stride_) routes_.resize(std::max(routes_.size() * 2, subjects * route_stride_));
}

// Longer chunks in place of more chunks: bytes / kMostChunks, rounded up.
std::uint64_t Network::chunk_size(const Message& message, std::uint8_t chunk) const {
  if (!has_data(message) || message.bytes == 0) return 0;
  if (message.bytes <= chunk_bytes_) return message.bytes;
  const std::uint64_t size = std::max(chunk_bytes_, (message.bytes - 1) / kMostChunks + 1);
  return std::min(size, message.bytes - chunk * size);
}

void Network::send(std::uint32_t index, Picoseconds time) {
  Message& message = messages_[index];
  message.chunks = 1;
  message.complete_at = 0;
  message.injected_at = 0;
  if (has_data(message) && message.bytes > chunk_bytes_) {
    message.chunks = static_cast<std::uint8_t>((message.bytes - 1) / chunk_size(message, 0) + 1);
  }
  message.uninjected = message.chunks;
  message.undelivered = message.chunks;

  if (message.from_nic == message.to_nic) {
    message.hops = 0;
    events_.push(time + intranode_latency_, EventKind::IntranodeHead, index);
    return;
  }
  if (!own_routes_) {
    make_room_for_routes(messages_.capacity());
    std::uint32_t from = message.from_nic;
    std::uint32_t to = message.to_nic;
    if (backwards(message)) std::swap(from, to);
    message.hops = static_cast<std::uint8_t>(
        topology_.extend({from, to, 0}, 0, route_of(index), LinkLoads(links_.data(), time)));
  }
  for (std::uint8_t chunk = 0; chunk < std::min(lanes_, message.chunks); ++chunk) {
    events_.push(time, EventKind::Inject, index, chunk);
  }
}

Progress Network::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::Hop:
      return own_routes_ ? hop_of_flight(event) : hop(event);
    case EventKind::IntranodeHead:
      return intranode_head(event);
    default:
      return inject(event);
  }
}

Picoseconds Network::occupy(LinkId link, Picoseconds ready, std::uint64_t bytes, std::uint16_t job) {
  LinkUse& use = links_[link];
  const Picoseconds start = contention_ ? std::max(ready, use.free) : ready;
  const Picoseconds duration = classes_[use.link_class].time.of(bytes);
  const Picoseconds wait = start - ready;
  use.free = start + duration;
  use.busy += duration;
  use.stall += wait;
  use.longest_wait = std::max(use.longest_wait, wait);
  use.bytes += bytes;
  ++use.chunks;
  if (!class_uses_.empty()) {
    ClassUse& of_job = class_uses_[job * classes_.size() + use.link_class];
    of_job.bytes += bytes;
    ++of_job.chunks;
    of_job.busy += duration;
    of_job.stall += wait;
  }
  return start;
}

Progress Network::inject(const Event& event) {
  Message& message = messages_[event.subject];
  std::uint32_t from = message.from_nic;
  std::uint32_t to = message.to_nic;
  if (lanes_ > 1) {
    const std::uint32_t rail = (from % rails_ + event.chunk) % rails_;
    from = from - from % rails_ + rail;
    to = to - to % rails_ + rail;
  }
  if (backwards(message)) std::swap(from, to);
  Nic& nic = nics_[from];
  if (event.chunk == 0 && event.kind == EventKind::Inject) {
    // The slot is taken now, in order of arrival; the NIC stays free for chunks of other messages until then.
    const Picoseconds slot = std::max(event.time, nic.next_injection);
    nic.next_injection = slot + gap_;
    if (slot > event.time) {
      events_.push(slot, EventKind::InjectGranted, event.subject);
      return {};
    }
  }
  const std::uint64_t bytes = chunk_size(message, event.chunk);
  const Picoseconds duration = nic_time_.of(bytes);
  const Picoseconds start = std::max(event.time, nic.inject_free);
  nic.inject_free = start + duration;

  std::uint32_t subject = event.subject;
  if (own_routes_) {
    subject = start_flight(event.subject, event.chunk, from, to);
    extend(subject, event.time);
  }
  const LinkId link = route_of(subject)[0];
  const LinkClass& link_class = classes_[links_[link].link_class];
  // A NIC slower than the link: the link starts so late that it never waits for the tail.
  const Picoseconds ready = start + nic_latency_ + std::max<Picoseconds>(0, duration - link_class.time.of(bytes));
  const Picoseconds link_start = occupy(link, ready, bytes, message.job);
  events_.push(link_start + link_class.to_next, EventKind::Hop, subject, event.chunk, 1);

  if (event.chunk + lanes_ < message.chunks) {
    events_.push(nic.inject_free, EventKind::Inject, event.subject, static_cast<std::uint8_t>(event.chunk + lanes_));
  }
  message.injected_at = std::max(message.injected_at, nic.inject_free);
  Progress progress;
  progress.message = event.subject;
  progress.injected = --message.uninjected == 0;
  return progress;
}

Progress Network::hop(const Event& event) {
  const Message& message = messages_[event.subject];
  const std::uint64_t bytes = chunk_size(message, event.chunk);
  const LinkId link = route_of(event.subject)[event.hop];
  const Picoseconds start = occupy(link, event.time, bytes, message.job);
  if (event.hop + 1 < message.hops) {
    events_.push(start + classes_[links_[link].link_class].to_next, EventKind::Hop, event.subject, event.chunk,
                 static_cast<std::uint8_t>(event.hop + 1));
    return {};
  }
  return eject(event.subject, backwards(message) ? message.from_nic : message.to_nic, event.chunk == 0, link, start,
               bytes);
}

Progress Network::hop_of_flight(const Event& event) {
  if (event.hop == flights_[event.subject].hops) extend(event.subject, event.time);
  const Flight flight = flights_[event.subject];
  const Message& message = messages_[flight.message];
  const std::uint64_t bytes = chunk_size(message, flight.chunk);
  const LinkId link = route_of(event.subject)[event.hop];
  const Picoseconds start = occupy(link, event.time, bytes, message.job);
  if (event.hop + 1 < flight.hops || !flight.whole) {
    events_.push(start + classes_[links_[link].link_class].to_next, EventKind::Hop, event.subject, event.chunk,
                 static_cast<std::uint8_t>(event.hop + 1));
    return {};
  }
  flights_.release(event.subject);
  return eject(flight.message, flight.to_nic, flight.chunk == 0, link, start, bytes);
}

Progress Network::eject(std::uint32_t index, std::uint32_t to, bool head, LinkId last, Picoseconds start,
                        std::uint64_t bytes) {
  Message& message = messages_[index];
  Nic& nic = nics_[to];
  const LinkClass& link_class = classes_[links_[last].link_class];
  const Picoseconds duration = nic_time_.of(bytes);
  Picoseconds ready = start + link_class.latency + std::max<Picoseconds>(0, link_class.time.of(bytes) - duration);
  if (head) {
    ready = std::max(ready, nic.next_ejection);
    nic.next_ejection = std::max(ready, nic.eject_free) + gap_;
  }
  nic.eject_free = std::max(ready, nic.eject_free) + duration;
  message.complete_at = std::max(message.complete_at, nic.eject_free + nic_latency_);

  Progress progress;
  progress.message = index;
  progress.head = head;
  progress.complete = --message.undelivered == 0;
  return progress;
}

std::uint32_t Network::start_flight(std::uint32_t message, std::uint8_t chunk, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t index = flights_.take();
  make_room_for_routes(flights_.capacity());
  Flight& flight = flights_[index];
  flight.in_use = true;
  flight.random = mixed(chance_ += kGoldenGamma);
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

// The processor copies through memory that both ranks see; copies of different pairs do not slow each other down.
Progress Network::intranode_head(const Event& event) {
  Message& message = messages_[event.subject];
  message.uninjected = 0;
  message.undelivered = 0;
  message.complete_at = event.time + (has_data(message) ? intranode_time_.of(message.bytes) : 0);
  message.injected_at = message.complete_at;
  return {event.subject, true, true, true};
}

void Network::prefetch_message(const Event& event) const {
  if (event.kind == EventKind::Resume) return;
  if (own_routes_ && event.kind == EventKind::Hop) {
    __builtin_prefetch(&flights_[event.subject], 1);
  } else {
    __builtin_prefetch(&messages_[event.subject], 1);
  }
  if (event.kind != EventKind::IntranodeHead && event.subject < routes_.size() / route_stride_) {
    __builtin_prefetch(route_of(event.subject));
  }
}

std::uint32_t Network::prefetch_place(const Event& event) const {
  if (event.kind == EventKind::Resume) return kNone;
  if (own_routes_ && event.kind == EventKind::Hop) {
    if (event.hop < flights_[event.subject].hops) __builtin_prefetch(&links_[route_of(event.subject)[event.hop]], 1);
    return kNone;
  }
  const Message& message = messages_[event.subject];
  if (event.kind != EventKind::IntranodeHead) {
    if (!own_routes_) __builtin_prefetch(&links_[route_of(event.subject)[event.hop]], 1);
    __builtin_prefetch(&nics_[event.kind == EventKind::Hop ? message.to_nic : message.from_nic], 1);
  }
  return receiver(event);
}

double Network::bytes_in(Picoseconds duration, std::uint8_t link_class) const {
  constexpr std::uint64_t kMuch = 1'000'000'000;
  return static_cast<double>(duration) * static_cast<double>(kMuch) /
         static_cast<double>(classes_[link_class].time.of(kMuch));
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

}  // namespace manynode::fast
