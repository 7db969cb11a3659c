// Times of the node model. A Stamp counts sixteenths of a tick; a tick is the time in which one operation is
// dispatched, so a cycle has as many ticks as the core dispatches operations. Stamps of registers and of the reorder
// buffer are whole ticks; their low four bits say what made the value late (Cause). The latest of several stamps then
// carries its cause along without a further instruction.
#pragma once

#include <algorithm>
#include <cstdint>

namespace manynode::node {

using Stamp = std::uint64_t;
inline constexpr Stamp kTick = 16;

// What a cycle is spent on: the parts of the CPI stack (Eyerman et al., section 5.3). The first ones fit into a stamp.
enum class Cause : std::uint8_t {
  kDependence,  // operands of earlier instructions, busy units, the store queue
  kL2,
  kLastLevel,
  kMemory,
  kBandwidth,  // memory that is busy with other lines
  kTlb,
  kBase,  // dispatch at full width
  kBranch,
  kInstructions,  // misses of the instruction cache, and code in more blocks than can be fetched in time
  kThreads,       // other threads of the rank
};
inline constexpr int kCauses = 10;
inline constexpr const char* kCauseNames[kCauses] = {"dependence", "l2",   "last_level", "memory", "bandwidth",
                                                     "tlb",        "base", "branch",     "icache", "threads"};

constexpr Stamp time_of(Stamp stamp) { return stamp & ~(kTick - 1); }
constexpr Cause cause_of(Stamp stamp) { return static_cast<Cause>(stamp & (kTick - 1)); }
constexpr Stamp stamped(Stamp time, Cause cause) { return time_of(time) | static_cast<Stamp>(cause); }

}  // namespace manynode::node
