// Links and switches with finite buffers and credit-based flow control (Dally and Towles, "Principles and Practices of
// Interconnection Networks", 2004, chapters 12, 13 and 18), in place of the unlimited queues of network.hpp. The model
// is a combined input and output queued switch, as in SST's merlin (hr_router, PortControl):
//
//   NIC or switch              link                 switch
//   output buffer per channel  ------ packet -----> input buffer per channel --> output buffer of the next link
//                              <----- credit ------
//
// - A packet (a chunk) starts on a link when the link is free and the input buffer behind it has room for all of it
//   (virtual cut-through). Virtual channels with a packet that can start take turns (round robin).
// - Its head is in the input buffer after link and switch latency. Input buffers are queues: only the first packet is
//   routed, and it moves on when the output buffer of its link and channel has room. The packets behind it wait,
//   whatever their destination (head-of-line blocking). Among inputs that want the same output, the least recently
//   served is next: each input has an equal share, however many flows it carries. The crossbar is infinitely fast
//   (in our merlin machines it has four times the rate of the links).
// - When the packet has left the input buffer, the credit takes link and switch latency back.
// - A NIC sends the chunks of its messages in turns, when the link and the buffer behind it allow. It receives at its
//   own rate and then returns the credit: a receiver slower than its link slows down everything before it.
//
// Ports count as routers do: the time in which a link was idle with a chunk ready for it (credit stall), and the time
// in which the first chunk of an input buffer waited for an output (inq stall), once for all channels of a port.
//
// Topologies choose virtual channels that exclude cycles of full buffers (Topology::virtual_channel).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "event_queue.hpp"
#include "fetch_ahead.hpp"
#include "link.hpp"
#include "pool.hpp"
#include "run_config.hpp"

namespace manynode::network {

class Network;
struct Progress;

class CreditFabric {
 public:
  // Part of `network`, which has the links' counters, the NICs and the messages.
  CreditFabric(Network& network, const NetworkConfig& config);

  // Passes the current leg of a message to its NIC at `time`.
  void send(std::uint32_t message, Picoseconds time);

  // Handles an event of kind Inject, InjectGranted, PacketArrives or LinkFree. For Inject, Event::link is the number
  // of the chunk.
  Progress inject(const Event& event);
  Progress handle(const Event& event);

  // The link's stalls up to `until`, which is not after now.
  LinkStalls stalls(LinkId link, Picoseconds until) const;

  // The largest chunk of any message: a buffer has room for several.
  std::uint64_t most_chunk_bytes() const { return most_chunk_bytes_; }

 private:
  // One virtual channel of a link: the link's number, then bits for the channel's.
  using LaneId = std::uint32_t;

  struct alignas(64) Packet {
    std::uint64_t random{0};
    Picoseconds ready{0};  // when it could start on the link that it has come to
    std::uint32_t message{kNone};
    std::uint32_t chunk{0};
    std::uint32_t from_nic{0};
    std::uint32_t to_nic{0};
    std::int32_t bytes{0};
    std::uint32_t next{kNone};  // behind it in the same buffer
    LaneId lane{0};             // that it is on, or waits for
    std::uint8_t hop{0};        // the place of that lane's link in the route
    std::uint8_t hops{0};       // links of the route that are known
    std::uint8_t job{0};
    bool whole{false};  // the route is complete
    bool in_use{false};
  };

  // A credit on its way back to the sender. The sender counts arrived credits when it needs them, without an event.
  struct Credit {
    Picoseconds time{0};
    std::int32_t bytes{0};
    std::uint32_t next{kNone};
    bool in_use{false};
  };

  struct Queue {
    std::uint32_t first{kNone};
    std::uint32_t last{kNone};
  };

  struct alignas(64) Lane {
    Queue output;                 // before the link
    Queue input;                  // behind it
    std::int64_t output_room{0};  // bytes; NICs have no bound, they make a chunk when it can be sent
    std::int64_t credits{0};      // bytes of room in the input buffer, as far as the sender knows
    Queue returning;              // credits that come, in order of time
    bool starved{false};          // the first packet waits for a credit that is not yet on its way
    std::uint64_t served{0};      // the higher, the later has the input buffer had a turn
    LaneId waiting{kNone};        // the input buffers whose first packet waits for room in `output`, as a list
    LaneId next_waiting{kNone};
  };

  // A link's output port, and the input port behind it.
  struct alignas(64) Port {
    Picoseconds wake{kNever};           // the next LinkFree that is under way
    Picoseconds stalled_since{kNever};  // idle with a packet that is ready; kNever: it is not
    Picoseconds credit_stall{0};        // without what lies behind stalled_since
    Picoseconds blocked_since{0};       // if blocked > 0
    Picoseconds inq_stall{0};           // without what lies behind blocked_since
    std::uint32_t packets{0};           // in the output buffers
    std::uint32_t turn{0};              // the channel that is first in the round
    std::uint32_t blocked{0};           // input buffers behind the link whose first packet waits
  };

  static constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

  template <typename Record>
  static void push_back(Queue& queue, Pool<Record>& records, std::uint32_t index);
  template <typename Record>
  static std::uint32_t pop_front(Queue& queue, Pool<Record>& records);
  LinkId link_of(LaneId lane) const { return lane >> channel_bits_; }
  LaneId lane_of(LinkId link, std::uint32_t channel) const { return link << channel_bits_ | channel; }
  std::uint8_t channel_of(LaneId lane) const { return static_cast<std::uint8_t>(lane & ((1u << channel_bits_) - 1)); }
  LinkId* route_of(std::uint32_t packet) { return &routes_[std::size_t{packet} * route_stride_]; }
  const LinkId* route_of(std::uint32_t packet) const { return &routes_[std::size_t{packet} * route_stride_]; }
  void add_chunk(std::uint32_t message, std::uint32_t chunk, Picoseconds time);
  std::uint32_t make_packet(const Event& event, std::uint32_t chunk, std::uint32_t from, std::uint32_t to);
  void extend(std::uint32_t packet);

  void prefetch() const;
  void fetch_link(LinkId link, std::uint32_t channel) const;
  Progress arrive(std::uint32_t packet);
  Progress deliver(std::uint32_t packet);
  // Moves packets of an input buffer on while the first one finds room.
  void advance(LaneId input);
  void choose_lane(std::uint32_t packet, LaneId input);
  // Moves the first packet of an input buffer to its output buffer.
  void cross(LaneId input);
  // An output buffer has room again: inputs that wait for it take turns.
  void admit(LaneId output);
  LaneId* least_recently_served(LaneId output);
  // The first packet of an input buffer begins or stops waiting.
  void block(LaneId input);
  void unblock(LaneId input);
  void enqueue(std::uint32_t packet);
  // Starts packets on a link while it is free.
  void serve(LinkId link);
  bool start_one(LinkId link);
  void start(LaneId lane);
  void wake(LinkId link, Picoseconds time);
  // When there will be room for `bytes` behind a lane; kNever if it is not known.
  Picoseconds room_at(Lane& lane, std::int32_t bytes);
  void return_credit(LaneId lane, std::int32_t bytes, Picoseconds time);

  Network& network_;
  std::uint32_t channels_;
  unsigned channel_bits_;
  std::uint32_t route_stride_;
  std::uint64_t most_chunk_bytes_;
  std::uint64_t turns_{0};
  Pool<Packet> packets_;
  Pool<Credit> credits_;
  std::vector<LinkId> routes_;  // route_stride_ per packet
  std::vector<Lane> lanes_;
  std::vector<Port> ports_;  // [link]
};

}  // namespace manynode::network
