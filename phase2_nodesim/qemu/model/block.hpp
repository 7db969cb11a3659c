// A basic block, cut into pieces, each with its timing as a map between stamps.
//
// Without misses, every time in a piece is a maximum of sums: of the piece's dispatch, of the registers that it reads
// and of constant latencies. Such a map is linear in the algebra of maximum and addition, so it is worked out once: for
// each result its offset from dispatch, and for each input the longest path to each result. To run a piece, the core
// adds offsets to the dispatch time, and follows only the paths of inputs that are late. A load that takes longer than
// a hit is one more input. `play` evaluates a piece instruction by instruction; the map is made by it and gives the
// same times.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "instruction.hpp"
#include "settings.hpp"

namespace manynode::node {

// Sinks of a piece beside the registers: the moment when all is done, when the branch at the end is resolved, and when
// each store has its address and data.
inline constexpr std::uint8_t kDone = 64, kBranchResolved = 65, kStores = 66;
inline constexpr int kMostInPiece = 16;  // bits of Dependents
inline constexpr int kSinks = kStores + kMostInPiece;

enum Resource : std::uint8_t {
  kIntegerUnit,
  kMultiplier,
  kDivider,
  kFloatUnit,
  kFloatAdder,
  kFloatIssue,
  kFloatDivider,
  kLoadPort,
  kStorePort,
  kVectorLoadPort,
  kVectorStorePort,
  kSustained
};
inline constexpr int kResources = 12;

// Rows of a map: one number for each result of the piece, in stamps, filled up to whole vectors. Their alignment is
// named, because code that is compiled for processors without AVX would take another one.
inline constexpr std::uint32_t kLanes = 8, kLanesBytes = kLanes * sizeof(std::int32_t);
using Lanes = std::int32_t __attribute__((vector_size(kLanesBytes)));
struct alignas(kLanesBytes) LanesOfRow {
  Lanes lanes;
};
inline constexpr std::uint32_t kMostVectors = (kSinks + kLanes - 1) / kLanes;
inline constexpr std::uint32_t kUnitVectors = (kResources + kLanes - 1) / kLanes;
// Rows are added to times that the core counts from its epoch (Core::move_epoch): from kLongAgo to kLatest and, with a
// path, a little after it. No path: the sum is before the epoch, and is still a number of 32 bits.
inline constexpr std::int32_t kLongAgo = -(1 << 29), kLatest = 1 << 30, kNoPath = -3 * (1 << 29);

struct Path {
  std::uint8_t from;  // a register, or the number of a load in the piece
  std::uint32_t length;
};

struct Input {
  std::int32_t slack;  // how late after dispatch it may be without making anything late
  std::uint32_t row;   // its paths to the results: a number of vectors
  std::uint8_t reg;
};

// Operations of a piece that cannot start before an input, or the data of a load, is there.
struct Dependents {
  std::uint16_t instructions = 0;  // a bit each, from the first of the piece on
  std::uint32_t later = 0;         // how long after it they start, in the mean
};

// 32 bytes, so that a load's number is a shift away from its place.
struct alignas(32) Load {
  std::uint16_t from_inputs, from_loads;
  std::uint32_t row, slack;     // as an input's, of its data
  std::uint32_t address_first;  // paths to its address
  std::uint32_t offset;         // of its address from dispatch
  std::uint32_t after;          // earlier loads that its address depends on: a bit each
  std::uint32_t hit;            // latency of a hit
  bool vector;                  // into a vector register
  bool feeds;                   // the address of a later load depends on it
};

struct Piece {
  std::uint16_t begin = 0, end = 0;  // instructions of the block
  std::uint16_t instructions = 0, operations = 0, loads = 0, stores = 0;
  std::uint16_t results = 0, vectors = 0;  // results, and the vectors that hold a number for each
  std::uint16_t inputs = 0;
  std::uint32_t result_first = 0, row = 0;  // the sinks, and their offsets from dispatch
  std::uint32_t input_first = 0, load_first = 0;
  std::uint32_t units_row = 0;                  // how long it occupies each resource
  std::uint64_t code_begin = 0, code_last = 0;  // addresses of the first and last byte
  Stamp length = 0;                             // dispatch of all operations
};

// Set by one thread after what it stands for, and seen by others. A block is copied only while one thread has it.
class Flag {
 public:
  Flag() = default;
  Flag(const Flag& other) : set_(static_cast<bool>(other)) {}
  Flag& operator=(const Flag& other) { return *this = static_cast<bool>(other); }
  Flag& operator=(bool set) {
    set_.store(set, std::memory_order_release);
    return *this;
  }
  explicit operator bool() const { return set_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> set_{false};
};

struct Block {
  std::uint64_t address = 0, next_address = 0;  // the begin, and what follows in memory
  std::uint64_t last_address = 0;               // of the last instruction: names the branch
  Ending ending = Ending::kNone;
  std::vector<Instruction> instructions;
  std::vector<std::uint16_t> starts;  // bytes from the begin to each instruction, and to the end
  std::vector<std::uint16_t> marks;   // numbers of instructions that are marks
  Flag prepared;                      // what follows is made by prepare()
  std::vector<Piece> pieces;
  std::vector<std::uint8_t> results;  // sinks, filled up to whole vectors with kNowhere
  std::vector<LanesOfRow> rows;
  std::vector<Input> inputs;
  std::vector<Load> loads;
  std::vector<Path> address_paths;
  std::vector<Dependents> input_dependents, load_dependents;  // of each input and load
  std::vector<std::uint8_t> store_sinks;                      // of each instruction; kNowhere: stores nothing
  std::vector<std::uint8_t> load_numbers;  // of each instruction: which load of its piece; kNowhere: loads nothing

  std::uint64_t address_of(std::uint16_t instruction) const { return address + starts[instruction]; }
};

// Latency of an instruction's operation (not of its load).
Stamp latency_of(Kind kind, const CoreSettings& core);

// Plays instructions [piece.begin, piece.end) from dispatch `at` on `times` (kSinks stamps). `load(number, ready,
// vector)` returns when the data of the piece's load `number` is there, its address being ready at `ready`;
// `starts(number, at)` is told when an instruction leaves the scheduler.
template <typename LoadTime, typename Starts = decltype([](int, Stamp) {})>
void play(const Block& block, const Piece& piece, const CoreSettings& core, Stamp at, Stamp* times, LoadTime&& load,
          Starts&& starts = {}) {
  int loads = 0;
  Stamp dispatched = at;
  for (int number = piece.begin; number < piece.end; ++number) {
    const Instruction& instruction = block.instructions[number];
    Stamp ready = dispatched;
    if (instruction.load || instruction.store) {
      ready = std::max({ready, times[instruction.address[0]], times[instruction.address[1]]});
    }
    const Stamp address_ready = ready;
    if (instruction.load) ready = load(loads++, ready, instruction.vector);
    for (const std::uint8_t source : instruction.sources) ready = std::max(ready, times[source]);
    // A load alone waits for its data in the load queue.
    starts(number, instruction.load && instruction.kind == Kind::kMove && !instruction.store ? address_ready : ready);
    const Stamp end = ready + latency_of(instruction.kind, core);
    for (const std::uint8_t result : instruction.results) {
      if (result != kNowhere) times[result] = end;
    }
    times[kDone] = std::max(times[kDone], end);
    if (instruction.branch) times[kBranchResolved] = end;
    if (instruction.store) times[block.store_sinks[number]] = end;
    dispatched += instruction.operations * kTick;
  }
}

// Cuts the block into pieces and works out their maps; `hit` is the latency of a load into a general register that hits
// the first level.
void prepare(Block& block, const CoreSettings& core, Stamp hit);

}  // namespace manynode::node
