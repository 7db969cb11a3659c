// One decoded instruction as the model sees it. The decoder (../decoder) makes them; nothing here knows an instruction
// set.
#pragma once

#include <array>
#include <cstdint>

namespace manynode::node {

// Registers are numbers below kRegisters. Two of them are no registers: one is ready at all times and pads lists of
// sources, the other takes results that nobody reads and pads lists of results.
inline constexpr std::uint8_t kRegisters = 62;
inline constexpr std::uint8_t kReady = 62;
inline constexpr std::uint8_t kNowhere = 63;

enum class Kind : std::uint8_t {
  kNone,  // no result to wait for: nop, direct jump
  kMove,  // no unit and no time: a renamed register, and a pure load or store
  kInteger,
  kMultiply,
  kDivide,
  kFloat,         // multiplication, also fused
  kFloatAdd,      // addition; comparisons whose result is a vector
  kFloatCompare,  // its result is in the flags
  kConvert,       // between a floating-point number and a general register
  kTransfer,      // move between a vector and a general register
  kVector,        // integer or shuffling operation on vectors: the units of kFloat, one cycle
  kFloatDivide,
};

struct Instruction {
  Kind kind = Kind::kNone;
  std::uint8_t operations = 1;                          // slots at dispatch; 0: fused with the one before
  std::array<std::uint8_t, 2> address{kReady, kReady};  // registers of the memory operand's address
  std::array<std::uint8_t, 4> sources{kReady, kReady, kReady, kReady};
  std::array<std::uint8_t, 3> results{kNowhere, kNowhere, kNowhere};
  bool load = false, store = false;
  std::uint8_t access_bytes = 8;  // of one access: front ends cut wider ones into pieces of 8 bytes
  bool wide = false;              // accesses of more than 8 bytes
  bool vector = false;            // reads or writes a vector register
  bool branch = false;            // ends a block by its condition or target
  std::uint8_t repeats = 1;       // times the unit is needed: a vector wider than the unit
};

// How a block ends.
enum class Ending : std::uint8_t { kNone, kConditional, kJump, kCall, kIndirectJump, kIndirectCall, kReturn };

}  // namespace manynode::node
