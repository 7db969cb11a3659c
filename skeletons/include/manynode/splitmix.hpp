// Random bits as a function of a number: SplitMix64 of Steele, Lea and Flood (OOPSLA 2014). Any rank can compute the
// value of any place.
#pragma once

#include <cstdint>

namespace manynode {

inline constexpr std::uint64_t kSplitmixStep = 0x9e3779b97f4a7c15;

// The finaliser: the output of state `z`.
constexpr std::uint64_t splitmix_mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Output `n` of the sequence with seed 0.
constexpr std::uint64_t random_bits(std::uint64_t n) { return splitmix_mixed((n + 1) * kSplitmixStep); }

}  // namespace manynode
