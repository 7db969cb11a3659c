// What the plugin keeps of translated code: decoded blocks and the marks in them.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "api.h"
#include "block.hpp"
#include "decoder.hpp"

namespace manynode::plugin {

// A mark in a block: what it says, and the number of the first instruction behind it.
struct Mark {
  node::Block* block;
  std::uint32_t kind, after;
};

// A memory operand's instruction and size, in the pointer that QEMU hands back at each access.
struct Operand {
  std::uint16_t instruction;
  std::uint8_t size;
};
inline void* packed(Operand operand) {
  return reinterpret_cast<void*>(std::uintptr_t{operand.instruction} | std::uintptr_t{operand.size} << 16);
}
inline Operand unpacked(const void* data) {
  const auto bits = reinterpret_cast<std::uintptr_t>(data);
  return {static_cast<std::uint16_t>(bits), static_cast<std::uint8_t>(bits >> 16)};
}

// Blocks by address. QEMU translates code again after a flush and with other lengths: a block with the same bytes is
// used again, so that nothing grows. QEMU translates under a lock.
class Translations {
 public:
  explicit Translations(std::uint32_t vector_bytes) : decoder_(vector_bytes) {}

  node::Block& block_of(const qemu_plugin_tb* tb);
  // The mark that these bytes are, or -1.
  static int mark_of(const std::uint8_t* bytes, std::size_t size);
  std::uint64_t unknown() const { return decoder_.unknown(); }

 private:
  struct Known {
    std::vector<std::uint8_t> bytes;
    std::unique_ptr<node::Block> block;
  };
  node::Decoder decoder_;
  std::unordered_map<std::uint64_t, std::vector<Known>> known_;
};

}  // namespace manynode::plugin
