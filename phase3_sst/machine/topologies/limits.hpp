// What every topology keeps to: hosts, switches and links are numbered with 31 bits, routes have at most 255 links.
#pragma once

#include <cstdint>
#include <string>

namespace manynode::network {

inline constexpr std::int64_t kMostParts = 0x7fffffff;

// `number` (of hosts, switches, ports or links), when it fits 31 bits; else throws UserError for the topology `kind`
// at `place`. Products of two numbers that fit do not overflow 64 bits.
std::uint32_t fitting(std::uint64_t number, const std::string& kind, const std::string& place);

// Throws UserError when routes of `hops` links are too long.
void check_hops(std::uint64_t hops, const std::string& kind, const std::string& place);

}  // namespace manynode::network
