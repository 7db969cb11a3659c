#include "draw.hpp"

#include <utility>

#include "manynode/splitmix.hpp"

namespace manynode::derived {
namespace {

// A number in [0, 1) from random bits: the 53 bits that a double holds.
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// FNV-1a.
std::uint64_t number_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::uint64_t mixed(std::uint64_t key, std::uint64_t part) { return splitmix_mixed((key ^ part) + kSplitmixStep); }

// Whether the size of the message before stays.
bool stays(const Distribution& distribution, std::uint64_t key) {
  return fraction(splitmix_mixed(key + kSplitmixStep)) < distribution.persistence;
}

std::uint64_t drawn(const Distribution& distribution, std::uint64_t key) {
  const auto place =
      fraction(splitmix_mixed(key + 2 * kSplitmixStep)) * static_cast<double>(distribution.values.size());
  return distribution.values[static_cast<std::size_t>(place)];
}

}  // namespace

Distribution::Distribution(std::string its_name, double its_persistence)
    : name(std::move(its_name)), number(number_of(name)), persistence(its_persistence) {}

std::uint64_t Draws::key_of(const Distribution& distribution, int sender, int receiver) const {
  const std::uint64_t pair = static_cast<std::uint64_t>(sender) << 32 | static_cast<std::uint32_t>(receiver);
  return mixed(mixed(splitmix_mixed(seed_ + kSplitmixStep), distribution.number), pair);
}

std::uint64_t Draws::next(const Distribution& distribution, std::int32_t index, int sender, int receiver) {
  Last& last = last_[{index, sender, receiver}];
  const std::uint64_t key = mixed(key_of(distribution, sender, receiver), last.messages);
  if (last.messages == 0 || !stays(distribution, key)) last.bytes = drawn(distribution, key);
  ++last.messages;
  return last.bytes;
}

std::uint64_t Draws::block(const Distribution& distribution, std::uint64_t collective, int sender, int receiver) const {
  if (distribution.persistence >= 1) collective = 0;
  const std::uint64_t key = key_of(distribution, sender, receiver);
  while (collective > 0 && stays(distribution, mixed(key, collective))) --collective;
  return drawn(distribution, mixed(key, collective));
}

}  // namespace manynode::derived
