// Puts the messages between two ranks in the order in which their first packets arrive.
//
// firefly's NIC sends several messages at a time, packet by packet in turn, and its receiver takes a short message when
// its last packet has come. A small one could so overtake a large one of the same two ranks, which MPI does not allow.
// Packets of a message therefore wait here until the messages before it are complete. Data of rendezvous messages are
// asked for by their receiver and need no order.
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
  // Takes a packet and appends what may go on to `ready`: nothing, the packet, or others that have waited for it.
  void take(Request* packet, std::deque<Request*>& ready);

  // Packets that wait, for the end of the simulation.
  void clear();

 private:
  struct Message {
    int stream;
    bool whole{false};
    std::vector<Request*> waiting;
  };
  // Messages under way between two ranks, in the order of their first packets.
  using Pair = std::deque<Message>;

  static void pass(Message& message, std::deque<Request*>& ready);

  std::unordered_map<std::uint64_t, Pair> pairs_;
};

}  // namespace manynode::link_control
