// One message on its way, the record that network and simulator share. A rendezvous message is one record through all
// of its legs: request to send, clear to send, data.
#pragma once

#include <cstdint>

#include "pool.hpp"
#include "sim_time.hpp"

namespace manynode::fast {

enum class MessageKind : std::uint8_t {
  Eager,          // the data, sent without asking
  RequestToSend,  // the envelope of a rendezvous message, without data
  ClearToSend,    // from the receiver to the sender, without data
  Data,           // of a rendezvous message, for a receive that is known
};

struct Message {
  std::uint64_t bytes{0};        // payload of the application's message
  std::uint64_t chunk_bytes{0};  // of this leg; 0 for a leg without data
  Picoseconds complete_at{0};    // of this leg, once `complete`
  std::int32_t source{0};        // ranks in the world
  std::int32_t destination{0};
  std::int32_t tag{0};
  std::uint32_t send_request{kNone};
  std::uint32_t receive_request{kNone};  // once matched
  std::uint32_t next{kNone};             // in the receiver's queue of unexpected messages
  std::uint16_t context{0};
  std::uint16_t hops{0};  // links of this leg's route; 0 within a node
  MessageKind kind{MessageKind::Eager};
  std::uint8_t chunks{1};       // of this leg
  std::uint8_t undelivered{1};  // chunks that have not reached the receiving NIC
  bool complete{false};         // the last byte has arrived, at complete_at
};

}  // namespace manynode::fast
