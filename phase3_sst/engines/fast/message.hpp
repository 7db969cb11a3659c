// A message in flight: the record that network and replica share, one cache line long. A rendezvous message keeps one
// record through all its legs: request to send, clear to send, data, acknowledgement.
#pragma once

#include <cstdint>

#include "pool.hpp"
#include "sim_time.hpp"

namespace manynode::network {

enum class MessageKind : std::uint8_t {
  Eager,            // the data, sent without asking
  RequestToSend,    // the envelope of a rendezvous message, without data
  ClearToSend,      // from the receiver to the sender, without data
  Data,             // of a rendezvous message, for a receive that is known
  Acknowledgement,  // from the receiver to the sender, without data: the data are there
  RemoteRequest,    // of a remote operation, to the NIC of the target
  RemoteReply,      // its answer, with the bytes that the target returns
};

struct alignas(64) Message {
  std::uint64_t bytes{0};      // payload of the application's message
  Picoseconds complete_at{0};  // of this leg: when the latest of its chunks so far has arrived
  std::uint32_t source{0};     // ranks of the run
  std::uint32_t destination{0};
  std::int32_t tag{0};
  std::uint32_t send_request{kNone};     // of the source
  std::uint32_t receive_request{kNone};  // of the destination, once matched
  std::uint32_t from_nic{0};             // the source's, whatever the direction of the leg
  std::uint32_t to_nic{0};
  std::uint32_t order{0};  // its number among the messages of this pair, if messages may overtake each other
  std::uint16_t context{0};
  std::uint8_t job{0};
  MessageKind kind : 7 {MessageKind::Eager};
  bool in_use : 1 {false};
  std::uint32_t chunks{1};       // of this leg
  std::uint32_t undelivered{1};  // chunks that have not reached the receiving NIC; 0: complete_at is final

  bool complete() const { return undelivered == 0; }
  // This leg goes from the receiver to the sender.
  bool backwards() const {
    return kind == MessageKind::ClearToSend || kind == MessageKind::Acknowledgement || kind == MessageKind::RemoteReply;
  }
};

static_assert(sizeof(Message) == 64);

}  // namespace manynode::network
