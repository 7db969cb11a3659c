// Which fields each call of a derived skeleton has, as manynode/derived/call_forms.py.
#pragma once

#include <cstdint>
#include <string>

#include "manynode/named_call.hpp"

namespace manynode::derived {

// Fields besides `when`, as bits.
enum Field : std::uint32_t {
  kPeer = 1,
  kSource = 2,
  kBytes = 4,
  kReceiveBytes = 8,
  kTag = 16,
  kReceiveTag = 32,
  kSent = 64,
  kReceived = 128,
  kNeighbors = 256,  // `sources` and `destinations`
  kCommunicator = 512,
  kRequest = 1024,
  kRequests = 2048,
  kOrder = 4096,
  kTake = 8192,
  kEach = 16384,
};

// Of MPI's name. An unknown one throws UserError at `where`.
CallForm form_of(const std::string& name, const std::string& where);

std::uint32_t required_fields(const CallForm& form);
std::uint32_t optional_fields(const CallForm& form);

}  // namespace manynode::derived
