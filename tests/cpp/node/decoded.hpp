// Decodes machine code given as hexadecimal bytes, and describes instructions in words.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "decoder.hpp"

namespace manynode::node::testing {

// Decodes instructions that follow one another.
inline Block decoded(const std::vector<std::string>& hexadecimal, std::uint32_t vector_bytes = 32,
                     std::uint64_t address = 0x400000) {
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Code> code;
  for (const std::string& one : hexadecimal) {
    std::istringstream text(one);
    bytes.emplace_back();
    for (unsigned byte; text >> std::hex >> byte;) bytes.back().push_back(static_cast<std::uint8_t>(byte));
  }
  for (const auto& one : bytes) {
    code.push_back({one.data(), one.size(), address});
    address += one.size();
  }
  Decoder decoder(vector_bytes);
  Block block;
  decoder.decode(code, block);
  EXPECT_EQ(decoder.unknown(), 0u);
  return block;
}

inline std::string name_of(std::uint8_t reg) {
  static const char* const kNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
  if (reg < 8) return kNames[reg];
  if (reg < 16) return "r" + std::to_string(reg);
  if (reg < 48) return "v" + std::to_string(reg - 16);
  return reg == 48 ? "flags" : reg == 49 ? "x87" : "k" + std::to_string(reg - 50);
}

// Kind, operations (but for 1), [registers of the address], sources -> results, accesses (and their bytes but for 8).
inline std::string description_of(const Instruction& instruction) {
  static const char* const kKinds[] = {"none",      "move",    "integer", "multiply", "divide", "float",
                                       "float-add", "compare", "convert", "transfer", "vector", "float-divide"};
  std::string text = kKinds[static_cast<int>(instruction.kind)];
  if (instruction.operations != 1) text += " x" + std::to_string(instruction.operations);
  const auto list = [](const auto& registers, std::uint8_t padding) {
    std::string all;
    for (const std::uint8_t reg : registers) {
      if (reg != padding) all += (all.empty() ? "" : " ") + name_of(reg);
    }
    return all;
  };
  const std::string address = list(instruction.address, kReady), sources = list(instruction.sources, kReady),
                    results = list(instruction.results, kNowhere);
  if (!address.empty()) text += " [" + address + "]";
  if (!sources.empty()) text += " " + sources;
  if (!results.empty()) text += " -> " + results;
  if (instruction.load) text += " load";
  if (instruction.store) text += " store";
  if ((instruction.load || instruction.store) && instruction.access_bytes != 8) {
    text += " of " + std::to_string(instruction.access_bytes);
  }
  return text;
}

struct Expected {
  const char* bytes;
  const char* assembly;
  const char* description;  // and how the block ends
};

inline void expect_all(const std::vector<Expected>& all) {
  static const char* const kEndings[] = {"",       " conditional", " jump", " call", " indirect-jump", " indirect-call",
                                         " return"};
  for (const Expected& one : all) {
    const Block block = decoded({one.bytes});
    EXPECT_EQ(description_of(block.instructions[0]) + kEndings[static_cast<int>(block.ending)], one.description)
        << one.assembly;
    // The core waits for what can be mispredicted.
    EXPECT_EQ(block.instructions[0].branch,
              block.ending != Ending::kNone && block.ending != Ending::kJump && block.ending != Ending::kCall)
        << one.assembly;
  }
}

}  // namespace manynode::node::testing
