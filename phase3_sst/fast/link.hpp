// The state of a directed link, and the view of it that adaptive routing has.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim_time.hpp"

namespace manynode::fast {

using LinkId = std::uint32_t;

inline constexpr std::uint32_t kNoHost = 0xffffffffu;

// A cache line.
struct alignas(64) LinkUse {
  Picoseconds free{0};          // from this time on
  Picoseconds busy{0};          // serialising chunks
  Picoseconds stall{0};         // sum over chunks of the time between being ready and starting
  Picoseconds longest_wait{0};  // behind what a chunk found before it
  std::uint64_t bytes{0};
  std::uint64_t chunks{0};
  std::uint8_t link_class{0};
};

class LinkLoads {
 public:
  // `queued`: what waits before each link, where that is not yet counted in LinkUse::free; null where it is.
  LinkLoads(const LinkUse* links, Picoseconds now, const Picoseconds* queued = nullptr)
      : links_(links), now_(now), queued_(queued) {}

  // How long a chunk that came to the link now would wait for it.
  Picoseconds backlog(LinkId link) const {
    return std::max<Picoseconds>(0, links_[link].free - now_) + (queued_ == nullptr ? 0 : queued_[link]);
  }

 private:
  const LinkUse* links_;
  Picoseconds now_;
  const Picoseconds* queued_;
};

}  // namespace manynode::fast
