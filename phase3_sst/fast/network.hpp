// The network: NICs and links that chunks of messages occupy one after the other, and the path within a node.
//
// A message is cut into chunks. A chunk that is ready at a link at time t starts at s = max(t, time at which the link
// is free), keeps it for bytes / bandwidth, and its head is ready at the next link at s + link latency + switch
// latency: the head moves on while the tail follows (virtual cut-through), so that an idle path costs one serialisation
// and not one per hop, however large the chunk. Events are handled in order of time, so a link serves chunks in the
// order in which they become ready (FIFO) without a queue of its own: one number, the time at which it is free, is its
// whole state.
//
// A chunk is injected when its predecessor has left the NIC, so that the messages of the ranks of a node take turns.
// The link of a host is fed by its NIC alone and drained by its NIC alone, so NIC and link are handled in one event.
#pragma once

#include <cstdint>
#include <vector>

#include "event_queue.hpp"
#include "link.hpp"
#include "message.hpp"
#include "pool.hpp"
#include "run_config.hpp"
#include "topology.hpp"

namespace manynode::fast {

// What an event brought about.
struct Progress {
  bool head{false};      // the first bytes have arrived
  bool complete{false};  // the last byte arrives at Message::complete_at (which may lie ahead of now)
  bool injected{false};  // the last byte leaves the sender at `injected_at`
  Picoseconds injected_at{0};
};

class Network {
 public:
  // Longer messages have larger chunks, so that their events do not grow without end. 64 is enough for 98 % of the line
  // rate whatever the rates of NIC and link: where a slow port feeds a fast one, one chunk is delayed by its own
  // length.
  static constexpr std::uint64_t kMostChunks = 64;

  Network(const NetworkConfig& config, std::uint32_t nodes, std::uint32_t ranks_per_node, EventQueue& events);

  Pool<Message>& messages() { return messages_; }
  const Pool<Message>& messages() const { return messages_; }

  // Hands the present leg of a message to the sending node at `time`, not before now. Legs with data are cut up.
  void send(std::uint32_t message, Picoseconds time);

  // Handles an event of kind Inject, InjectGranted, Hop or IntranodeHead.
  Progress handle(const Event& event);

  const std::vector<LinkUse>& links() const { return links_; }

 private:
  struct Nic {
    Picoseconds inject_free{0};
    Picoseconds eject_free{0};
    Picoseconds next_injection{0};  // the gap: no message starts before
    Picoseconds next_ejection{0};
  };

  Progress inject(const Event& event);
  Progress hop(const Event& event);
  Progress intranode_head(const Event& event);
  // Keeps the link for a chunk that is ready at `ready`; returns the time at which the chunk starts.
  Picoseconds occupy(LinkId link, Picoseconds ready, std::uint64_t bytes);
  LinkId* route_of(std::uint32_t message) { return &routes_[std::size_t{message} * max_hops_]; }

  EventQueue& events_;
  const Topology& topology_;
  std::uint32_t ranks_per_node_;
  std::uint32_t max_hops_;
  std::uint64_t chunk_bytes_;
  ByteTime link_time_;
  ByteTime nic_time_;
  ByteTime intranode_time_;
  Picoseconds link_latency_;
  Picoseconds switch_latency_;
  Picoseconds nic_latency_;
  Picoseconds gap_;
  Picoseconds intranode_latency_;
  Pool<Message> messages_;
  std::vector<LinkId> routes_;  // max_hops_ per record of messages_
  std::vector<LinkUse> links_;
  std::vector<Nic> nics_;
};

}  // namespace manynode::fast
