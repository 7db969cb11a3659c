// Limits of every topology: hosts, switches and links have 31-bit numbers, routes have at most 255 links.
#pragma once

#include <cstdint>
#include <string>

namespace manynode::network {

inline constexpr std::int64_t kMostParts = 0x7fffffff;

// Returns `number` (of hosts, switches, ports or links) if it fits 31 bits; else throws UserError for the topology
// `kind` at `place`. Products of two fitting numbers do not overflow 64 bits.
std::uint32_t fitting(std::uint64_t number, const std::string& kind, const std::string& place);

// Throws UserError if routes of `hops` links are too long.
void check_hops(std::uint64_t hops, const std::string& kind, const std::string& place);

}  // namespace manynode::network
