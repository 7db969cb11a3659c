// The file of a recorded run (schema recorded-stream/2, phase2_nodesim/recorded_stream.py), read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manynode/named_call.hpp"

namespace manynode::recorded {

// Isend, Irecv and the non-blocking forms.
inline bool makes_request(const CallForm& form) {
  return form.nonblocking || form.kind == CallKind::Isend || form.kind == CallKind::Irecv;
}

// A call, or (without a form) only the compute phases before the end.
struct RecordedCall {
  std::optional<CallForm> form{};
  std::uint16_t communicator{0};
  int peer{kNoPeer};
  int source{kNoPeer};
  int tag{0};
  int receive_tag{0};
  std::uint64_t bytes{0};
  std::uint64_t receive_bytes{0};
  std::vector<std::uint64_t> sent{};
  std::vector<std::uint64_t> received{};
  std::vector<int> sources{};
  std::vector<int> destinations{};
  std::vector<std::uint32_t> requests{};  // counted backwards: 1 is the last one made before the call
  std::vector<std::uint32_t> phases{};    // before the call
  int window{0};
  std::vector<int> group{};
};

struct Stream {
  int ranks{0};
  std::string digest;
  std::vector<std::string> phases;
  std::vector<std::vector<std::vector<int>>> communicators;  // [number - 1]: groups of ranks, apart from each other
  std::vector<RecordedCall> calls;                           // distinct ones
  std::vector<std::vector<std::uint32_t>> of_rank;           // indices of calls

  // The rank's group of each communicator but the world, by number - 1; null where it is in none.
  std::vector<const std::vector<int>*> groups_of(int rank) const;
};

// Throws UserError for a file that is missing or not of this schema.
Stream read_stream(const std::string& file);

}  // namespace manynode::recorded
