// The state of a directed link, and the part of it that adaptive routing sees.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim_time.hpp"

namespace manynode::network {

using LinkId = std::uint32_t;

inline constexpr std::uint32_t kNoHost = 0xffffffffu;

// A cache line.
struct alignas(64) LinkUse {
  Picoseconds free{0};          // from this time on
  Picoseconds busy{0};          // serialising chunks
  Picoseconds stall{0};         // sum over chunks of the time between being ready and starting
  Picoseconds longest_wait{0};  // longest wait of a chunk for those before it
  std::uint64_t bytes{0};
  std::uint64_t chunks{0};
  Picoseconds queued{0};  // with flow control: for what waits in the output buffers, which `free` does not count
  std::uint8_t link_class{0};
};

// Router counters of a link and of the input port behind it: time in which it had work but stood still. This is at most
// the time of the run.
struct LinkStalls {
  Picoseconds credit{0};  // the link was idle and a chunk was ready for it, but the buffer behind had no room
  Picoseconds inq{0};     // the first chunk of an input buffer behind the link could not go on
};

inline constexpr Picoseconds kLongestBacklog = 10 * kLongestStep;

class LinkLoads {
 public:
  LinkLoads(const LinkUse* links, Picoseconds now) : links_(links), now_(now) {}

  // How long a chunk arriving now would wait for the link. Routing multiplies this by the links of a route; values
  // beyond kLongestBacklog make no difference.
  Picoseconds backlog(LinkId link) const {
    return std::min(std::max<Picoseconds>(0, links_[link].free - now_) + links_[link].queued, kLongestBacklog);
  }

 private:
  const LinkUse* links_;
  Picoseconds now_;
};

}  // namespace manynode::network
