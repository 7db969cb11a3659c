// Random but reproducible choices of adaptive routes: pure functions of the chunk's random number.
#pragma once

#include <algorithm>
#include <cstdint>

#include "link.hpp"

namespace manynode::network {

// A number below `bound`, equally likely up to 2^-32 and independent for each `use` of the same random number (the
// finaliser of SplitMix64; Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
inline std::uint32_t draw(std::uint64_t random, std::uint32_t use, std::uint32_t bound) {
  std::uint64_t z = random + (use + std::uint64_t{1}) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<std::uint32_t>(((z >> 32) * bound) >> 32);
}

// The drawn one of the numbers without `one` and `other` (which differ).
inline std::uint32_t third(std::uint32_t drawn, std::uint32_t one, std::uint32_t other) {
  if (drawn >= std::min(one, other)) ++drawn;
  if (drawn >= std::max(one, other)) ++drawn;
  return drawn;
}

// The link with the least backlog among `count` links from `first` on. The search starts at a drawn link: equally
// loaded links (an idle switch has many) are chosen equally often.
inline LinkId least_loaded(LinkId first, std::uint32_t count, std::uint64_t random, std::uint32_t use,
                           const LinkLoads& loads) {
  const std::uint32_t start = draw(random, use, count);
  LinkId best = first + start;
  Picoseconds least = loads.backlog(best);
  for (std::uint32_t i = 1; i < count && least > 0; ++i) {
    const std::uint32_t at = start + i < count ? start + i : start + i - count;
    const Picoseconds backlog = loads.backlog(first + at);
    if (backlog < least) {
      least = backlog;
      best = first + at;
    }
  }
  return best;
}

}  // namespace manynode::network
