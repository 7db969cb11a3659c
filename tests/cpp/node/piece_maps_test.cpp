// A piece's map gives exactly the times of `play`, for blocks, register states and load delays drawn at random.
#include "node.hpp"

namespace manynode::node {

struct CoreTimes {
  static std::array<Stamp, kSinks> of(const Core& core) {
    std::array<Stamp, kSinks> times;
    for (int sink = 0; sink < kSinks; ++sink) times[sink] = core.time_at(static_cast<std::uint8_t>(sink));
    return times;
  }
  static void set(Core& core, int reg, Stamp at) { core.times_[reg] = core.from_epoch(at); }
  static Stamp epoch(const Core& core) { return core.epoch_; }
};

namespace {

using namespace testing;

// What holds dispatch back is out of the way: only the map is left.
NodeSettings unlimited_node() {
  NodeSettings settings = small_node();
  settings.core.reorder_buffer = settings.core.store_queue = settings.core.scheduler = 1 << 20;
  settings.core.load_queue = 1 << 20;
  settings.core.vector_load_latency = 7;
  settings.core.forward_latency = 1;
  settings.core.vector_forward_latency = 9;
  settings.l1d.prefetch = Prefetch::kStride;
  settings.l2.prefetch = Prefetch::kStream;
  return settings;
}

class Draws {
 public:
  explicit Draws(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  bool once_in(std::uint32_t count) { return below(count) == 0; }
  template <typename Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[below(static_cast<std::uint32_t>(values.size()))];
  }

  Block block(const NodeSettings& settings) {
    const std::uint32_t count = once_in(3) ? 1 + below(100) : 1 + below(32);
    registers_ = one_of<std::uint32_t>({3, 8, kRegisters});
    std::vector<Instruction> instructions(count);
    std::vector<std::uint16_t> marks;
    for (std::uint32_t i = 0; i < count; ++i) {
      instructions[i] = instruction();
      if (once_in(30)) marks.push_back(static_cast<std::uint16_t>(i));
    }
    const bool branches = once_in(2);
    if (branches) {
      instructions.back().branch = true;
      instructions.back().operations = static_cast<std::uint8_t>(below(2));  // 0: fused
    }
    return block_of(settings, instructions, 0x400000 + 512 * below(32), branches ? Ending::kConditional : Ending::kNone,
                    marks);
  }

  // Few lines are hits, some are in further levels, many come from memory; some accesses cross a line or hit a word
  // that was stored before.
  std::uint64_t address() {
    const std::uint64_t lines = one_of<std::uint32_t>({8, 200, 900, 100'000});
    return 0x10000000 + below(static_cast<std::uint32_t>(lines)) * kLine + one_of<std::uint64_t>({0, 8, 40, 60});
  }

 private:
  std::uint8_t reg() { return static_cast<std::uint8_t>(below(registers_)); }

  Instruction instruction() {
    Instruction to;
    to.kind = one_of({Kind::kNone, Kind::kMove, Kind::kInteger, Kind::kInteger, Kind::kMultiply, Kind::kDivide,
                      Kind::kFloat, Kind::kFloatAdd, Kind::kFloatCompare, Kind::kConvert, Kind::kTransfer,
                      Kind::kVector, Kind::kFloatDivide});
    to.operations = static_cast<std::uint8_t>(one_of({1, 1, 1, 1, 0, 10}));
    for (std::uint32_t i = below(4); i > 0; --i) to.sources[i] = reg();
    for (std::uint32_t i = below(4); i > 0; --i) to.results[i - 1] = reg();
    to.load = once_in(3);
    to.store = once_in(4);
    if (to.load || to.store || once_in(10)) {
      for (std::uint32_t i = below(3); i > 0; --i) to.address[i - 1] = reg();
    }
    to.vector = once_in(2);
    to.repeats = static_cast<std::uint8_t>(1 + below(2));
    return to;
  }

  std::mt19937 random_;
  std::uint32_t registers_ = kRegisters;
};

// Runs blocks by `play`, one instruction after the other, with a memory path of its own.
class Reference {
 public:
  explicit Reference(const NodeSettings& settings)
      : settings_(settings),
        memory_("", Uncore::bytes(settings)),
        uncore_(settings, memory_.data()),
        path(std::make_unique<MemoryPath>(settings, uncore_, Place{}, now)) {}

  void run(const Block& block, std::size_t first, std::size_t end) {
    const Access* load = path->loads.data();
    const Access* store = path->stores.data();
    const Access* const loads_end = load + path->loads.size();
    const Access* const stores_end = store + path->stores.size();
    for (std::size_t number = first; number < end; ++number) {
      const Piece& piece = block.pieces[number];
      fetch(block, piece);
      times[kDone] = 0;
      std::vector<std::uint16_t> loading;
      for (std::uint16_t i = piece.begin; i < piece.end; ++i) {
        if (block.instructions[i].load) loading.push_back(i);
      }
      play(block, piece, settings_.core, now, times.data(), [&](int which, Stamp ready, bool vector) {
        const std::uint16_t instruction = loading[static_cast<std::size_t>(which)];
        Stamp got = ready + path->hit_latency(vector);
        for (; load != loads_end && load->instruction == instruction; ++load) {
          got = std::max(got, path->finish_load(*load, block.address_of(instruction), ready, vector));
        }
        return got;
      });
      for (std::uint16_t i = piece.begin; i < piece.end; ++i) now += block.instructions[i].operations * kTick;
      retired = std::max(retired + piece.length, times[kDone]);
      for (; store != stores_end && store->instruction < piece.end; ++store) {
        path->finish_store(*store, block.address_of(store->instruction), times[block.store_sinks[store->instruction]],
                           retired);
      }
    }
    path->loads.clear();
    path->stores.clear();
  }

 private:
  void fetch(const Block& block, const Piece& piece) {
    const std::uint64_t begin = block.address + block.starts[piece.begin];
    const std::uint64_t last = block.address + block.starts[piece.end] - 1;
    for (std::uint64_t line = begin / kLine; line <= last / kLine; ++line) now += path->fetch(line, now);
  }

  const NodeSettings settings_;
  SharedMemory memory_;
  Uncore uncore_;

 public:
  Stamp now = 0, retired = 0;
  std::array<Stamp, kSinks> times{};
  std::unique_ptr<MemoryPath> path;
};

// Both run the same block with the same accesses, in one go or cut at a random piece, as marks cut it.
void run_both(Core& core, Reference& reference, const Block& block, Draws& draws) {
  std::size_t next = 0;
  while (next < block.pieces.size()) {
    const std::size_t end = draws.once_in(4)
                                ? next + 1 + draws.below(static_cast<std::uint32_t>(block.pieces.size() - next))
                                : block.pieces.size();
    for (std::uint16_t i = block.pieces[next].begin; i < block.pieces[end - 1].end; ++i) {
      const Instruction& instruction = block.instructions[i];
      for (std::uint32_t access = 0; access < instruction.repeats; ++access) {
        const std::uint64_t address = draws.address();
        if (instruction.load) {
          core.memory.load(address, 8, i);
          reference.path->load(address, 8, i);
        }
        if (instruction.store) {
          core.memory.store(address, 8, i);
          reference.path->store(address, 8, i);
        }
      }
    }
    core.run(block, next, end);
    reference.run(block, next, end);
    next = end;
  }
}

void set_registers(Core& core, Reference& reference, Draws& draws) {
  for (int reg = 0; reg < kRegisters; ++reg) {
    const Stamp early = std::min<Stamp>(core.now(), 100 * kTick);
    Stamp at = core.now();
    if (draws.once_in(2)) at = time_of(at - early + draws.below(2000) * kTick) + draws.below(6);
    reference.times[reg] = at;
    CoreTimes::set(core, reg, at);
  }
}

void expect_same_times(const Core& core, const Reference& reference, const Block& block,
                       const std::array<Stamp, kSinks>& times) {
  ASSERT_EQ(core.now(), reference.now);
  for (int reg = 0; reg < kRegisters; ++reg) ASSERT_EQ(times[reg], reference.times[reg]) << "register " << reg;
  ASSERT_EQ(times[kReady], 0u);
  ASSERT_EQ(times[kDone], reference.times[kDone]);
  if (block.ending == Ending::kConditional) {
    ASSERT_EQ(times[kBranchResolved], reference.times[kBranchResolved]);
  }
  for (int i = 0; i < block.pieces.back().stores; ++i) {
    ASSERT_EQ(times[kStores + i], reference.times[kStores + i]) << "store " << i;
  }
}

TEST(PieceMaps, GiveTheTimesOfPlayForRandomBlocksRegistersAndDelays) {
  const NodeSettings settings = unlimited_node();
  Node node(settings);
  Core& core = node.core();
  Reference reference(settings);
  Draws draws(11);
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const Block block = draws.block(settings);
    set_registers(core, reference, draws);
    // The second time its lines are nearer and its registers are its own results.
    for (int again = 0; again < 2; ++again) {
      run_both(core, reference, block, draws);
      expect_same_times(core, reference, block, CoreTimes::of(core));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(core.memory.counts.last_level_misses, 1000u);  // the delays were there
  EXPECT_GT(core.memory.counts.prefetches, 100u);
}

// Times are kept from an epoch on, which moves with the clock.
TEST(PieceMaps, GiveTheSameTimesWhenTheEpochMoves) {
  const NodeSettings settings = unlimited_node();
  Draws draws(13);
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    Node node(settings);
    Core& core = node.core();
    Reference reference(settings);
    const Block block = draws.block(settings);
    set_registers(core, reference, draws);
    run_both(core, reference, block, draws);
    // Some registers are as late as this, so that they are not ready when the epoch moves.
    for (int reg = 0; reg < kRegisters; reg += 5) {
      reference.times[reg] = (Stamp{1} << 28) + draws.below(5000) * kTick;
      CoreTimes::set(core, reg, reference.times[reg]);
    }
    core.idle_until((Stamp{1} << 28) + draws.below(2000) * kTick);
    reference.now = core.now();
    reference.retired = std::max(reference.retired, core.now());
    run_both(core, reference, block, draws);
    ASSERT_GT(CoreTimes::epoch(core), 0u);
    expect_same_times(core, reference, block, CoreTimes::of(core));
    if (HasFatalFailure()) return;
  }
}

// QEMU's blocks have up to 512 instructions.
TEST(PieceMaps, AreRightForTheLongestBlocksInWhichEverythingDependsOnEverything) {
  const NodeSettings settings = unlimited_node();
  Node node(settings);
  Core& core = node.core();
  Reference reference(settings);
  Draws draws(12);
  std::vector<Instruction> instructions;
  for (std::uint32_t i = 0; i < 512; ++i) {
    const auto reg = [&](std::uint32_t number) { return static_cast<std::uint8_t>(number % kRegisters); };
    // A chain through all; each joins registers that no instruction of its piece has written.
    Instruction to = of(Kind::kInteger, reg(i), {reg(i - 1 + kRegisters), reg(i + 20), reg(i + 41)});
    to.load = true;
    to.store = true;
    to.address = {reg(i + kRegisters - 2), reg(i + 10)};
    instructions.push_back(to);
  }
  const Block block = block_of(settings, instructions);
  for (int again = 0; again < 3; ++again) {
    set_registers(core, reference, draws);
    run_both(core, reference, block, draws);
    expect_same_times(core, reference, block, CoreTimes::of(core));
    if (HasFatalFailure()) return;
  }
}

TEST(PieceMaps, CutABlockAtMarksAndAfter16Instructions) {
  const Block block = block_of(small_node(), times(38, of(Kind::kInteger)), 0x400000, Ending::kNone,
                               {std::uint16_t{3}, std::uint16_t{24}});
  std::vector<std::pair<int, int>> pieces;
  for (const Piece& piece : block.pieces) pieces.emplace_back(piece.begin, piece.end);
  EXPECT_EQ(pieces, (std::vector<std::pair<int, int>>{{0, 4}, {4, 20}, {20, 25}, {25, 38}}));
}

}  // namespace
}  // namespace manynode::node
