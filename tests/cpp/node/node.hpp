// A small node for tests, and blocks made by hand. Physical addresses are the virtual ones and there is no address
// translation, unless a test asks for them: which set a line falls into is then known.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core.hpp"
#include "shared_memory.hpp"

namespace manynode::node::testing {

// Caches are small, so that tests that fill them are short. All latencies differ.
inline NodeSettings small_node() {
  NodeSettings settings;
  settings.l1i = {16, 4, 3, Prefetch::kNone};
  settings.l1d = {16, 4, 4, Prefetch::kNone};                                  // 64 lines
  settings.l2 = {64, 4, 14, Prefetch::kNone};                                  // 256 lines
  settings.last_level = {64, 16, 50, Replacement::kLru, Inclusion::kNeither};  // 1,024 lines
  settings.memory.latency_cycles = settings.memory.remote_cycles = 200;
  settings.frames_by_hash = false;
  return settings;
}
inline constexpr std::uint64_t kLine = 64, kPage = 4096;
inline constexpr std::uint64_t kL1Lines = 64, kL2Lines = 256, kLastLevelLines = 1024;

// Cores with what they share. Each core's CPI stack must add up to its clock when the node ends.
class Node {
 public:
  explicit Node(const NodeSettings& settings, std::vector<Place> places = {{}})
      : settings_(settings), memory_("", Uncore::bytes(settings)), uncore(settings, memory_.data()) {
    for (const Place& place : places) cores_.push_back(std::make_unique<Core>(settings, uncore, place));
  }
  Node(const Node&) = delete;
  ~Node() {
    for (const auto& core : cores_) {
      const auto& stack = core->counts.stack;
      EXPECT_EQ(std::accumulate(stack.begin(), stack.end(), Stamp{0}), core->now()) << "the CPI stack and the clock";
    }
  }

  Core& core(std::size_t number = 0) { return *cores_.at(number); }
  const NodeSettings& settings() const { return settings_; }

 private:
  const NodeSettings settings_;
  SharedMemory memory_;

 public:
  Uncore uncore;

 private:
  std::vector<std::unique_ptr<Core>> cores_;
};

// ---- instructions ---------------------------------------------------------------------------------------------------

inline Instruction of(Kind kind, std::uint8_t result = kNowhere, std::initializer_list<std::uint8_t> sources = {}) {
  Instruction to;
  to.kind = kind;
  to.results[0] = result;
  std::copy(sources.begin(), sources.end(), to.sources.begin());
  return to;
}
inline Instruction load(std::uint8_t result, std::uint8_t address = kReady) {
  Instruction to = of(Kind::kMove, result);
  to.load = true;
  to.address[0] = address;
  return to;
}
inline Instruction store(std::uint8_t data = kReady, std::uint8_t address = kReady) {
  Instruction to = of(Kind::kMove, kNowhere, {data});
  to.store = true;
  to.address[0] = address;
  return to;
}
inline Instruction branch(std::uint8_t condition = kReady) {
  Instruction to = of(Kind::kInteger, kNowhere, {condition});
  to.branch = true;
  return to;
}
inline std::vector<Instruction> times(std::size_t count, const Instruction& instruction) {
  return std::vector<Instruction>(count, instruction);
}
inline std::vector<Instruction> operator+(std::vector<Instruction> first, const std::vector<Instruction>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A block with two bytes to an instruction, ready to run on such a node.
inline Block block_of(const NodeSettings& settings, std::vector<Instruction> instructions,
                      std::uint64_t address = 0x400000, Ending ending = Ending::kNone,
                      std::vector<std::uint16_t> marks = {}) {
  Block block;
  block.address = address;
  block.instructions = std::move(instructions);
  for (std::size_t i = 0; i <= block.instructions.size(); ++i)
    block.starts.push_back(static_cast<std::uint16_t>(2 * i));
  block.next_address = address + block.starts.back();
  block.last_address = block.next_address - 2;
  block.ending = ending;
  block.marks = std::move(marks);
  prepare(block, settings.core, settings.core.cycles(settings.l1d.latency_cycles));
  return block;
}

// ---- running --------------------------------------------------------------------------------------------------------

// Runs a block whose memory instructions access these addresses, in program order.
inline void run(Core& core, const Block& block, std::initializer_list<std::uint64_t> addresses = {}) {
  const std::uint64_t* address = addresses.begin();
  for (std::size_t i = 0; i < block.instructions.size() && address != addresses.end(); ++i) {
    const Instruction& instruction = block.instructions[i];
    if (instruction.load) core.memory.load(*address, 8, static_cast<std::uint16_t>(i));
    if (instruction.store) core.memory.store(*address, 8, static_cast<std::uint16_t>(i));
    address += instruction.load || instruction.store;
  }
  core.run(block, 0, block.pieces.size());
}

inline double cycles(const Core& core, const NodeSettings& settings) {
  return static_cast<double>(core.now()) / static_cast<double>(settings.core.width * kTick);
}

// Cycles of `what`, which runs `rounds` times, for each. As many rounds before make caches warm and fill the reorder
// buffer.
template <typename What>
double cycles_each(Node& node, int rounds, What&& what, std::size_t core = 0) {
  for (int i = 0; i < rounds; ++i) what(i);
  const double begin = cycles(node.core(core), node.settings());
  for (int i = 0; i < rounds; ++i) what(rounds + i);
  return (cycles(node.core(core), node.settings()) - begin) / rounds;
}

inline double cycles_of(const Core& core, Cause cause) {
  return static_cast<double>(core.counts.stack[static_cast<int>(cause)]) / static_cast<double>(kTick);
}

// All of `count` lines from `first` in an order without pattern, each once: the way of a pointer chase.
inline std::vector<std::uint64_t> chase_of(std::uint64_t count, std::uint64_t first = 0, std::uint64_t apart = kLine) {
  std::vector<std::uint64_t> addresses(count);
  for (std::uint64_t i = 0; i < count; ++i) addresses[i] = first + i * apart;
  std::shuffle(addresses.begin(), addresses.end(), std::mt19937(7));
  return addresses;
}

// Within `percent` of what a formula gives.
inline void expect_near(double found, double formula, double percent) {
  EXPECT_NEAR(found, formula, formula * percent / 100)
      << "deviation " << 100 * (found / formula - 1) << " %, allowed " << percent << " %";
}

}  // namespace manynode::node::testing
