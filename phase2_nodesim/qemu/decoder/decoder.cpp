#include "decoder.hpp"

#include <capstone/capstone.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "classes.hpp"
#include "registers.hpp"

namespace manynode::node {
namespace {

constexpr std::uint64_t kPage = 4096, kLongest = 15;  // bytes of a page and of the longest instruction

void add(std::span<std::uint8_t> list, std::uint8_t padding, std::uint8_t reg) {
  if (reg == kReady || reg == kNowhere || std::find(list.begin(), list.end(), reg) != list.end()) return;
  const auto free = std::find(list.begin(), list.end(), padding);
  // More operands than the model has places for (saves and restores of all state): the last place takes the rest.
  if (free == list.end()) {
    list.back() = reg;
  } else {
    *free = reg;
  }
}

// Registers read and written, and memory read or written, of one instruction.
void operands(const cs_insn& insn, const InstructionClass& what, Instruction& to) {
  if (what.no_operands) return;
  using First = InstructionClass::First;
  const cs_x86& x86 = insn.detail->x86;
  for (int i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    if (operand.type == X86_OP_MEM) {
      add(to.address, kReady, register_number(operand.mem.base));
      add(to.address, kReady, register_number(operand.mem.index));
      if (!what.touches_memory) {  // lea: the address is the result
        add(to.sources, kReady, register_number(operand.mem.base));
        add(to.sources, kReady, register_number(operand.mem.index));
        to.address = {kReady, kReady};
        continue;
      }
      if (operand.size > 0) to.access_bytes = static_cast<std::uint8_t>(std::min<unsigned>(operand.size, 8));
      to.wide = operand.size > 8;
      const bool known = i == 0 && what.first != First::kAsCapstoneSays;
      to.load |= known ? what.first != First::kWritten : (operand.access & CS_AC_READ) != 0;
      to.store |= known ? what.first != First::kRead : (operand.access & CS_AC_WRITE) != 0;
    } else if (operand.type == X86_OP_REG) {
      const std::uint8_t reg = register_number(operand.reg);
      to.vector |= is_vector(reg);
      if (what.stack && reg == kStackPointer) continue;
      const bool writes = (operand.access & CS_AC_WRITE) != 0;
      // Parts of a register are merged with the rest of it.
      const bool merges = writes && (what.keeps_old_result || (operand.size < 4 && is_general(reg)));
      if (((operand.access & CS_AC_READ) != 0 || merges) && !what.zeroes) add(to.sources, kReady, reg);
      if (writes) add(to.results, kNowhere, reg);
    }
  }
  for (int i = 0; i < insn.detail->regs_read_count; ++i) {
    const std::uint8_t reg = register_number(insn.detail->regs_read[i]);
    if (!(what.stack && reg == kStackPointer)) add(to.sources, kReady, reg);
  }
  for (int i = 0; i < insn.detail->regs_write_count; ++i) {
    const std::uint8_t reg = register_number(insn.detail->regs_write[i]);
    if (!(what.stack && reg == kStackPointer)) add(to.results, kNowhere, reg);
  }
  if (what.exchanges) {
    add(to.results, kNowhere, kAccumulator);
    add(to.results, kNowhere, kFlags);
  }
  if (what.x87) {
    add(to.sources, kReady, kX87);
    if (!what.leaves_x87) add(to.results, kNowhere, kX87);
  }
  to.load |= what.pops;
  to.store |= what.pushes;
}

std::uint32_t widest_operand(const cs_insn& insn) {
  std::uint32_t bytes = 8;
  for (int i = 0; i < insn.detail->x86.op_count; ++i) {
    bytes = std::max<std::uint32_t>(bytes, insn.detail->x86.operands[i].size);
  }
  return bytes;
}

}  // namespace

Decoder::Decoder(std::uint32_t vector_bytes) : vector_bytes_(vector_bytes) {
  csh handle = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) throw std::runtime_error("capstone does not start");
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  handle_ = handle;
  scratch_ = cs_malloc(handle);
}

Decoder::~Decoder() {
  cs_free(static_cast<cs_insn*>(scratch_), 1);
  csh handle = handle_;
  cs_close(&handle);
}

// QEMU ends a block before an instruction that reaches into the next page, having read a part of it; before version 8.1
// it shows that part as the block's last instruction, and the whole one again in a block of its own. No instruction is
// the beginning of another one, so that Capstone does not know the part.
bool Decoder::is_undone(const Code& last) const {
  const bool may_cross = last.address % kPage + kLongest > kPage;
  const std::uint8_t* bytes = last.bytes;
  std::size_t size = last.size;
  std::uint64_t address = last.address;
  return may_cross && !cs_disasm_iter(handle_, &bytes, &size, &address, static_cast<cs_insn*>(scratch_));
}

void Decoder::decode(std::span<const Code> code, Block& block) {
  if (code.size() > 1 && is_undone(code.back())) code = code.first(code.size() - 1);
  block.address = code.front().address;
  block.next_address = code.back().address + code.back().size;
  block.last_address = code.back().address;
  block.instructions.reserve(code.size());
  block.starts.reserve(code.size() + 1);
  bool fuses = false;  // the instruction before sets flags and fuses with a conditional jump
  for (const Code& one : code) {
    Instruction instruction;
    block.starts.push_back(static_cast<std::uint16_t>(one.address - block.address));
    const std::uint8_t* bytes = one.bytes;
    std::size_t size = one.size;
    std::uint64_t address = one.address;
    auto* insn = static_cast<cs_insn*>(scratch_);
    if (cs_disasm_iter(handle_, &bytes, &size, &address, insn)) {
      const InstructionClass what = classify(*insn);
      instruction.kind = what.kind;
      instruction.operations = what.operations;
      operands(*insn, what, instruction);
      // A pure load or store needs no unit but its port.
      if (what.moves && (instruction.load || instruction.store)) instruction.kind = Kind::kMove;
      const std::uint32_t widest = widest_operand(*insn);
      instruction.repeats = static_cast<std::uint8_t>(std::max(1u, (widest + vector_bytes_ - 1) / vector_bytes_));
      instruction.branch = what.ending == Ending::kConditional || what.ending == Ending::kIndirectJump ||
                           what.ending == Ending::kIndirectCall || what.ending == Ending::kReturn;
      if (what.ending == Ending::kConditional && fuses) instruction.operations = 0;
      block.ending = what.ending;
      fuses = what.fuses;
    } else {
      ++unknown_;
      instruction.kind = Kind::kInteger;
      block.ending = Ending::kNone;
      fuses = false;
    }
    block.instructions.push_back(instruction);
  }
  block.starts.push_back(static_cast<std::uint16_t>(block.next_address - block.address));
}

}  // namespace manynode::node
