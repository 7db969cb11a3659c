// Capstone's registers -> numbers of the model: 16 general ones, 32 vector ones, flags, the x87 stack, 8 masks.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>

#include "instruction.hpp"

namespace manynode::node {

inline constexpr std::uint8_t kVectorRegisters = 16;
inline constexpr std::uint8_t kAccumulator = 0, kStackPointer = 4, kFlags = 48, kX87 = 49, kMasks = 50;

constexpr bool is_general(std::uint8_t number) { return number < kVectorRegisters; }
constexpr bool is_vector(std::uint8_t number) { return number >= kVectorRegisters && number < kFlags; }

// kReady for registers without a time of their own: none, the program counter, segments.
inline std::uint8_t register_number(unsigned reg) {
  switch (reg) {
    case X86_REG_RAX:
    case X86_REG_EAX:
    case X86_REG_AX:
    case X86_REG_AL:
    case X86_REG_AH:
      return 0;
    case X86_REG_RCX:
    case X86_REG_ECX:
    case X86_REG_CX:
    case X86_REG_CL:
    case X86_REG_CH:
      return 1;
    case X86_REG_RDX:
    case X86_REG_EDX:
    case X86_REG_DX:
    case X86_REG_DL:
    case X86_REG_DH:
      return 2;
    case X86_REG_RBX:
    case X86_REG_EBX:
    case X86_REG_BX:
    case X86_REG_BL:
    case X86_REG_BH:
      return 3;
    case X86_REG_RSP:
    case X86_REG_ESP:
    case X86_REG_SP:
    case X86_REG_SPL:
      return kStackPointer;
    case X86_REG_RBP:
    case X86_REG_EBP:
    case X86_REG_BP:
    case X86_REG_BPL:
      return 5;
    case X86_REG_RSI:
    case X86_REG_ESI:
    case X86_REG_SI:
    case X86_REG_SIL:
      return 6;
    case X86_REG_RDI:
    case X86_REG_EDI:
    case X86_REG_DI:
    case X86_REG_DIL:
      return 7;
    case X86_REG_EFLAGS:
      return kFlags;
    default:
      break;
  }
  const auto within = [reg](unsigned first, unsigned count) { return reg >= first && reg < first + count; };
  if (within(X86_REG_R8, 8)) return static_cast<std::uint8_t>(8 + reg - X86_REG_R8);
  if (within(X86_REG_R8D, 8)) return static_cast<std::uint8_t>(8 + reg - X86_REG_R8D);
  if (within(X86_REG_R8W, 8)) return static_cast<std::uint8_t>(8 + reg - X86_REG_R8W);
  if (within(X86_REG_R8B, 8)) return static_cast<std::uint8_t>(8 + reg - X86_REG_R8B);
  if (within(X86_REG_XMM0, 32)) return static_cast<std::uint8_t>(kVectorRegisters + reg - X86_REG_XMM0);
  if (within(X86_REG_YMM0, 32)) return static_cast<std::uint8_t>(kVectorRegisters + reg - X86_REG_YMM0);
  if (within(X86_REG_ZMM0, 32)) return static_cast<std::uint8_t>(kVectorRegisters + reg - X86_REG_ZMM0);
  if (within(X86_REG_ST0, 8) || within(X86_REG_MM0, 8)) return kX87;
  if (within(X86_REG_K0, 8)) return static_cast<std::uint8_t>(kMasks + reg - X86_REG_K0);
  return kReady;
}

}  // namespace manynode::node
