// Puts into and gets from the memory of one rank, as messages: GPCNeT's congestors of one-sided communication.
//
// Not as the one-sided calls of Mpi, in which the root takes no part: as messages that it receives. A put is a message
// to the root, and an empty message answers the flush after the puts. A get is an empty request, and its data are a
// message back. All receives of an iteration are posted at its start: nothing waits for a match and no message is
// unexpected. The empty message represents all puts or gets of a rank and an iteration.
#pragma once

#include <vector>

#include "congestor.hpp"

namespace manynode::patterns {

inline constexpr int kDataTag = 0;
inline constexpr int kControlTag = 1;

// Waits for the messages of one rank, which are those from `first` on.
inline void wait_for(Mpi& mpi, const std::vector<Request>& requests, std::size_t first, int messages) {
  mpi.waitall(std::span(requests).subspan(first, static_cast<std::size_t>(messages)));
}

}  // namespace manynode::patterns
