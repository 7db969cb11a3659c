#include "draw.hpp"

#include "manynode/splitmix.hpp"

namespace manynode::derived {
namespace {

// A number in [0, 1) from random bits: the 53 bits that a double holds.
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// FNV-1a, so that a distribution keeps its sizes where others are added to the file.
std::uint64_t number_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::uint64_t Draws::next(const Distribution& distribution, std::int32_t index, int sender, int receiver) {
  Last& last = last_[{index, sender, receiver}];
  std::uint64_t key = splitmix_mixed(seed_ + kSplitmixStep);
  const std::uint64_t pair = static_cast<std::uint64_t>(sender) << 32 | static_cast<std::uint32_t>(receiver);
  for (const std::uint64_t part : {number_of(distribution.name), pair, last.messages}) {
    key = splitmix_mixed((key ^ part) + kSplitmixStep);
  }
  const bool stays = last.messages > 0 && fraction(splitmix_mixed(key + kSplitmixStep)) < distribution.persistence;
  ++last.messages;
  if (!stays) {
    const auto place =
        fraction(splitmix_mixed(key + 2 * kSplitmixStep)) * static_cast<double>(distribution.values.size());
    last.bytes = distribution.values[static_cast<std::size_t>(place)];
  }
  return last.bytes;
}

}  // namespace manynode::derived
