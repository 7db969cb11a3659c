// What kind of work an x86-64 instruction is, by its mnemonic.
#pragma once

#include <capstone/capstone.h>

#include "instruction.hpp"

namespace manynode::node {

struct InstructionClass {
  Kind kind = Kind::kInteger;
  std::uint8_t operations = 1;
  Ending ending = Ending::kNone;
  bool moves = false;             // copies without arithmetic
  bool zeroes = false;            // the result does not depend on the operands (xor of a register with itself)
  bool keeps_old_result = false;  // the old value of the result is an operand, although not named as one
  bool touches_memory = true;     // a memory operand is accessed
  bool stack = false;             // moves the stack pointer, which a stack engine follows without an operation
  bool pushes = false, pops = false;
  bool fuses = false;        // with a conditional jump behind it
  bool no_operands = false;  // whatever it names: it waits for nothing and changes nothing
  bool exchanges = false;    // compares and exchanges: the result is in rax and the flags, too
  bool x87 = false;          // on the stack of x87 registers, which is one register here: work on it is a chain
  bool leaves_x87 = false;   // but the stack is only read
  // What happens to a memory operand in the first place where Capstone 4 is wrong about it.
  enum class First : std::uint8_t { kAsCapstoneSays, kRead, kWritten, kChanged } first = First::kAsCapstoneSays;
};

InstructionClass classify(const cs_insn& insn);

}  // namespace manynode::node
