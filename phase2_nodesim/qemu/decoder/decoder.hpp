// x86-64 machine code -> instructions of the node model, by Capstone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "block.hpp"

namespace manynode::node {

// One instruction's bytes and address.
struct Code {
  const std::uint8_t* bytes;
  std::size_t size;
  std::uint64_t address;
};

class Decoder {
 public:
  explicit Decoder(std::uint32_t vector_bytes);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Fills address, instructions, starts and ending of `block`. An instruction that Capstone does not know counts as an
  // integer operation without operands; `unknown` counts them. A last one that QEMU took back is left out.
  void decode(std::span<const Code> code, Block& block);

  std::uint64_t unknown() const { return unknown_; }

 private:
  bool is_undone(const Code& last) const;

  std::size_t handle_ = 0;
  void* scratch_ = nullptr;
  std::uint32_t vector_bytes_;
  std::uint64_t unknown_ = 0;
};

}  // namespace manynode::node
