#include "translation.hpp"

#include <cstring>

#include "../marks.h"

namespace manynode::plugin {
namespace {

constexpr std::size_t kLongest = 15;  // bytes of an x86 instruction

}  // namespace

int Translations::mark_of(const std::uint8_t* bytes, std::size_t size) {
  std::uint32_t word;
  if (size != 7 || bytes[0] != 0x0f || bytes[1] != 0x1f || bytes[2] != 0x80) return -1;
  std::memcpy(&word, bytes + 3, sizeof word);
  const std::uint32_t kind = word - MN_MARK_WORD;
  return kind < MN_MARKS ? static_cast<int>(kind) : -1;
}

node::Block& Translations::block_of(const qemu_plugin_tb* tb) {
  const std::size_t count = qemu_plugin_tb_n_insns(tb);
  std::vector<std::uint8_t> bytes(count * (kLongest + 1));
  std::vector<node::Code> code(count);
  for (std::size_t i = 0; i < count; ++i) {
    const qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    std::uint8_t* at = bytes.data() + i * (kLongest + 1);
    manynode_instruction_bytes(insn, at, kLongest);
    code[i] = {at, qemu_plugin_insn_size(insn), qemu_plugin_insn_vaddr(insn)};
  }
  std::vector<Known>& same_address = known_[code.front().address];
  for (Known& known : same_address) {
    if (known.bytes == bytes) return *known.block;
  }
  auto block = std::make_unique<node::Block>();
  decoder_.decode(code, *block);
  for (std::size_t i = 0; i < block->instructions.size(); ++i) {
    if (mark_of(code[i].bytes, code[i].size) >= 0) block->marks.push_back(static_cast<std::uint16_t>(i));
  }
  same_address.push_back({std::move(bytes), std::move(block)});
  return *same_address.back().block;
}

}  // namespace manynode::plugin
