// The envelope for matching: source, tag and context of a message or of a receive.
#pragma once

#include <algorithm>
#include <cstdint>

#include "manynode/call.hpp"

namespace manynode::network {

struct Envelope {
  std::int32_t peer{0};  // rank in the job; of a receive, kAnySource fits all
  std::int32_t tag{0};   // of a receive, kAnyTag fits all
  std::uint16_t context{0};

  bool operator==(const Envelope&) const = default;

  bool wild() const { return peer == kAnySource || tag == kAnyTag; }

  // Whether a receive with this envelope takes a message with that one.
  bool takes(const Envelope& message) const {
    return context == message.context && (peer == kAnySource || peer == message.peer) &&
           (tag == kAnyTag || tag == message.tag);
  }

  // A few bits that mostly differ between different envelopes.
  static constexpr std::uint8_t kLeastFingerprint = 3;
  std::uint8_t fingerprint() const {
    const std::uint32_t mixed = (static_cast<std::uint32_t>(peer) * 0x9e3779b1u) ^
                                (static_cast<std::uint32_t>(tag) * 0x85ebca6bu) ^ (context * 0xc2b2ae35u);
    return static_cast<std::uint8_t>(std::max<std::uint32_t>(mixed >> 24, kLeastFingerprint));
  }
};

}  // namespace manynode::network
