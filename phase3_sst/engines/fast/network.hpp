// The network: NICs and links that chunks of messages occupy one after the other, and the path within a node.
//
// A message is cut into chunks. A chunk that is ready at a link at time t starts at s = max(t, time at which the link
// is free) and keeps the link for bytes / bandwidth. Its head is ready at the next link at s + link latency + switch
// latency. The head moves on while the tail follows (virtual cut-through): an idle path costs one serialisation, not
// one per hop, whatever the size of the chunk. Events are handled in order of time. A link therefore serves chunks in
// the order in which they become ready (FIFO) without a queue; its only state is the time at which it is free.
//
// A chunk is injected when its predecessor has left the NIC: the messages of the ranks of a node take turns. Only the
// NIC feeds and drains the link of a host: one event handles both.
//
// With fixed routes, each link is computed when a chunk comes to it. If routes depend on load or chance, or if chunks
// take turns over several NICs, each chunk is a flight with its own route.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "credit_fabric.hpp"
#include "event_queue.hpp"
#include "fetch_ahead.hpp"
#include "injection_control.hpp"
#include "link.hpp"
#include "message.hpp"
#include "overhead.hpp"
#include "pool.hpp"
#include "replica_result.hpp"
#include "run_config.hpp"
#include "topology.hpp"

namespace manynode::network {

// The result of an event.
struct Progress {
  std::uint32_t message{kNone};
  bool head{false};      // the first bytes have arrived
  bool complete{false};  // the last byte arrives at Message::complete_at (which may lie ahead of now)
};

class Network {
 public:
  // `seed` is for random routing; `config` and `events` outlive this object.
  Network(const NetworkConfig& config, std::size_t jobs, std::uint64_t seed, EventQueue& events);

  // Starts the injection control of `config`; call it before the first message. `config` outlives this object.
  void control_injection(const RunConfig& config);
  // The effect of injection control per NIC; empty without it.
  std::vector<InjectionUse> injection_uses() { return injection_ ? injection_->uses() : std::vector<InjectionUse>{}; }
  // The link that a NIC feeds; kNone if there is no other host.
  LinkId first_link(std::uint32_t nic) const;

  Pool<Message>& messages() { return messages_; }
  const Pool<Message>& messages() const { return messages_; }

  // Whether a message may overtake another one of the same pair of ranks.
  bool overtakes() const { return own_routes_ || config_.host.rail_choice == RailChoice::ByMessage; }

  // The time in which the receiving NIC, or a processor of the same node, takes the bytes of a message.
  Picoseconds bytes_time(const Message& message) const {
    return (message.from_nic == message.to_nic ? intranode_time_ : nic_time_).of(message.bytes);
  }
  Picoseconds gap() const { return gap_; }

  // Longer messages must be checked before they are sent.
  std::uint64_t most_unchecked_bytes() const { return std::min(most_bytes_, most_intranode_bytes_); }
  // Throws UserError, which names the part of the network, for a message whose bytes take longer than kLongestStep in
  // one place, or that has too many bytes to count.
  void check_length(const Message& message) const;
  // Largest sum of bytes of a run at which no counter of a class of links wraps.
  std::uint64_t most_bytes_in_all() const;

  // Passes the current leg of a message to the sending node at `time`, not before now. Legs with data are cut up.
  // Message::from_nic and to_nic are set; they are equal within a node.
  void send(std::uint32_t message, Picoseconds time);

  // Handles an event of any kind but Resume.
  Progress handle(const Event& event);

  // The number of a record that no message uses.
  static constexpr std::uint32_t kNoMessage = 0;

  // The message that `event` will bring to its receiver, kNoMessage for any other event. Has no branch.
  std::uint32_t arriving(const Event& event) const {
    const std::uint32_t last_hop = (event.kind == EventKind::Hop) & !own_routes_ & (event.hop + 1 == event.hops);
    const std::uint32_t arrives = last_hop | (event.kind == EventKind::IntranodeHead);
    return event.subject & (0u - arrives);
  }

  // Prefetches the NIC and the link that a chunk will reach soon.
  void fetch_link(const Event& event) const {
    if (own_routes_) return;
    const bool sends = event.kind == EventKind::Inject;
    fetch_ahead(sends ? static_cast<const void*>(&senders_[event.from]) : &receivers_[event.to]);
    fetch_ahead(&links_[event.link]);
  }

  const std::vector<LinkUse>& links() const { return links_; }
  // The link's stalls up to `until`; without flow control there are none.
  LinkStalls stalls(LinkId link, Picoseconds until) const {
    return fabric_ ? fabric_->stalls(link, std::min(until, events_.now())) : LinkStalls{};
  }
  // The bytes that a link of a class carries in `duration`.
  double bytes_in(Picoseconds duration, std::uint8_t link_class) const;
  // [job * classes + class]; with one job, what its links add up to.
  std::vector<ClassUse> class_uses() const;
  std::size_t classes() const { return classes_.size(); }

 private:
  friend class CreditFabric;

  // The two directions of a NIC.
  struct Sender {
    Picoseconds free{0};
    Picoseconds next{0};  // the gap: no message starts before
    // The latest event by which a chunk returns to this NIC after waiting for the gap or its turn. While one is
    // pending, other chunks must wait in line as events too.
    Picoseconds last_event{-1};
  };
  struct Receiver {
    Picoseconds free{0};
    Picoseconds next{0};
  };

  struct LinkClass {
    ByteTime time;
    Picoseconds to_next;  // from the start on this link to being ready at the next one
    Picoseconds latency;
  };

  // A chunk with a route of its own.
  struct Flight {
    std::uint64_t random{0};
    std::uint32_t message{kNone};
    std::uint32_t from_nic{0};
    std::uint32_t to_nic{0};
    std::uint8_t chunk{0};
    std::uint8_t hops{0};
    bool whole{false};  // the route is complete
    bool in_use{false};
  };

  std::uint64_t most_message_bytes() const;
  std::uint64_t most_intranode_message_bytes() const;
  std::uint64_t chunk_size(const Message& message, std::uint32_t chunk) const;
  // Changes the NICs of a striped chunk to those of its rail.
  void choose_rail(std::uint32_t chunk, std::uint32_t& from, std::uint32_t& to) const;
  // Takes the next slot of a NIC for a first chunk that arrives now; returns its time.
  Picoseconds take_slot(const Event& event, std::uint32_t nic);
  // Returns the chunk to its NIC at `time`, as an InjectGranted.
  void grant(const Event& event, std::uint32_t nic, Picoseconds time);
  Progress controlled(const Event& event);
  Progress inject(const Event& event);
  Progress hop(const Event& event);
  Picoseconds wait_for_tail(LinkId before, LinkId link, std::uint64_t bytes) const;
  Progress hop_of_flight(const Event& event);
  Progress eject(std::uint32_t message, std::uint32_t nic, bool head, LinkId last, Picoseconds start,
                 std::uint64_t bytes);
  Progress intranode_head(const Event& event);
  std::uint32_t start_flight(std::uint32_t message, std::uint8_t chunk, std::uint32_t from, std::uint32_t to);
  void extend(std::uint32_t flight, Picoseconds time);
  std::uint64_t draw();
  // Reserves the link for a chunk that is ready at `ready`; returns the time at which the chunk starts.
  Picoseconds occupy(LinkId link, Picoseconds ready, std::uint64_t bytes, std::uint16_t job);
  [[noreturn]] void refuse_count(const LinkUse& use) const;
  void count(LinkUse& use, std::uint64_t bytes, Picoseconds duration, Picoseconds wait, std::uint16_t job);
  LinkId* route_of(std::uint32_t flight) { return &routes_[std::size_t{flight} * route_stride_]; }

  const NetworkConfig& config_;
  EventQueue& events_;
  const Topology& topology_;
  bool own_routes_;
  bool contention_;
  bool one_rate_{true};  // all links have the same bandwidth
  std::uint32_t rails_;
  std::uint8_t lanes_;  // chunks of a message that may be injected in parallel: rails if striped, else 1
  std::uint32_t route_stride_;
  std::uint64_t chunk_bytes_;
  std::uint64_t most_chunks_;
  std::uint64_t most_chunk_bytes_{std::numeric_limits<std::uint64_t>::max()};
  std::uint64_t most_bytes_{0};            // of a message
  std::uint64_t most_intranode_bytes_{0};  // within a node
  ByteTime nic_time_;
  ByteTime intranode_time_;
  Picoseconds nic_latency_;
  Overhead message_latency_;
  Picoseconds gap_;
  Picoseconds intranode_latency_;
  std::uint64_t chance_;
  Pool<Message> messages_;
  Pool<Flight> flights_;
  std::vector<LinkId> routes_;  // route_stride_ per flight
  std::vector<LinkUse> links_;
  std::vector<LinkClass> classes_;
  std::vector<Sender> senders_;                  // [NIC]
  std::vector<Receiver> receivers_;              // [NIC]
  std::vector<ClassUse> class_uses_;             // kept only with several jobs
  std::unique_ptr<CreditFabric> fabric_;         // only with flow control
  std::unique_ptr<InjectionControl> injection_;  // only with injection control
};

}  // namespace manynode::network
