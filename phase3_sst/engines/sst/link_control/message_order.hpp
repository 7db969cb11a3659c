// Keeps the messages between two ranks in the order in which their first packets arrive.
//
// firefly's NIC sends several messages at a time, packet by packet in turn, and its receiver takes a short message when
// its last packet has arrived. A small message could overtake a large one of the same two ranks, which MPI does not
// allow. Packets of a message therefore wait here until the messages before it are complete. Receivers request the data
// of rendezvous messages, which need no order.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include <sst/core/interfaces/simpleNetwork.h>

namespace manynode::link_control {

using Request = SST::Interfaces::SimpleNetwork::Request;

class MessageOrder {
 public:
  // Takes a packet and appends deliverable packets to `ready`: none, this packet, or others that waited for it.
  void take(Request* packet, std::deque<Request*>& ready);

  // Frees waiting packets at the end of the simulation.
  void clear();

 private:
  struct Message {
    int stream;
    bool whole{false};
    std::vector<Request*> waiting;
  };
  // Messages in flight between two ranks, in the order of their first packets.
  using Pair = std::deque<Message>;

  static void pass(Message& message, std::deque<Request*>& ready);

  std::unordered_map<std::uint64_t, Pair> pairs_;
};

}  // namespace manynode::link_control
