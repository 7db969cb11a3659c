#include "block.hpp"

#include <array>

namespace manynode::node {
namespace {

// Far beyond every path, far below overflow: a stamp that contains it depends on what was set to it.
constexpr Stamp kFar = Stamp{1} << 40;

using Times = std::array<Stamp, kSinks>;

// The resource of a kind, how often one unit can start it (cycles), and the number of units. The times (in stamps) are
// rounded once for a piece, not for each instruction: a third of a cycle of width 5 is 26.7 stamps.
void occupy(std::array<double, kResources>& occupied, const Instruction& instruction, const CoreSettings& core) {
  const auto add = [&](Resource resource, double cycles, double units) {
    occupied[resource] += cycles * core.width * kTick / units;
  };
  const auto add_float = [&](Resource resource, std::uint32_t units) {
    add(resource, instruction.repeats, units);
    if (core.float_issue < core.float_units + core.float_add_units) {
      add(kFloatIssue, instruction.repeats, core.float_issue);
    }
  };
  if (core.sustained_width > 0 && core.sustained_width < core.width)
    add(kSustained, instruction.operations, core.sustained_width);
  switch (instruction.kind) {
    case Kind::kNone:
    case Kind::kMove:
      break;
    case Kind::kInteger:
      if (core.integer_units < core.width) add(kIntegerUnit, 1, core.integer_units);
      break;
    case Kind::kMultiply:
      add(kMultiplier, 1, 1);
      break;
    case Kind::kDivide:
      add(kDivider, core.divide_interval, 1);
      break;
    case Kind::kFloat:
    case Kind::kVector:
    case Kind::kConvert:
    case Kind::kTransfer:
      add_float(kFloatUnit, core.float_units);
      break;
    case Kind::kFloatAdd:
    case Kind::kFloatCompare:
      if (core.float_add_units == 0) {
        add_float(kFloatUnit, core.float_units);
      } else {
        add_float(kFloatAdder, core.float_add_units);
      }
      break;
    case Kind::kFloatDivide:
      add(kFloatDivider, core.float_divide_interval * instruction.repeats, 1);
      break;
  }
  if (instruction.load) {
    add(kLoadPort, instruction.repeats, core.load_ports);
    if (instruction.vector && core.vector_load_ports < core.load_ports) {
      add(kVectorLoadPort, instruction.repeats, core.vector_load_ports);
    }
  }
  if (instruction.store) {
    add(kStorePort, instruction.repeats, core.store_ports);
    if (instruction.vector && core.vector_store_ports < core.store_ports) {
      add(kVectorStorePort, instruction.repeats, core.vector_store_ports);
    }
  }
}

// Whether an instruction waits for its operands in the scheduler.
bool is_scheduled(const Instruction& instruction) {
  const bool has_unit = instruction.kind != Kind::kNone && instruction.kind != Kind::kMove;
  return instruction.operations != 0 && (has_unit || instruction.load || instruction.store);
}

// Works out the map of one piece.
class Summary {
 public:
  Summary(Block& block, Piece& piece, const CoreSettings& core, Stamp hit)
      : block_(block), piece_(piece), core_(core), hit_(hit) {}

  void make() {
    find_inputs();
    results_of_dispatch();
    std::vector<std::vector<Path>> from_inputs(static_cast<std::size_t>(piece_.loads));
    std::vector<std::vector<Path>> from_loads(static_cast<std::size_t>(piece_.loads));
    piece_.input_first = static_cast<std::uint32_t>(block_.inputs.size());
    piece_.inputs = static_cast<std::uint16_t>(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Times times = play_from(inputs_[i], -1);
      const auto [row, slack] = add_row(times);
      block_.inputs.push_back({static_cast<std::int32_t>(slack), row, inputs_[i]});
      block_.input_dependents.push_back(dependents());
      for (int m = 0; m < piece_.loads; ++m) {
        if (addresses_[m] >= kFar) from_inputs[m].push_back({inputs_[i], below(addresses_[m])});
      }
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;
    for (int load = 0; load < piece_.loads; ++load) {
      rows.push_back(add_row(play_from(kReady, load)));
      block_.load_dependents.push_back(dependents());
      for (int m = load + 1; m < piece_.loads; ++m) {
        if (addresses_[m] >= kFar) from_loads[m].push_back({static_cast<std::uint8_t>(load), below(addresses_[m])});
      }
    }
    add_loads(rows, from_inputs, from_loads);
  }

 private:
  Stamp hit(bool vector) const { return vector ? core_.cycles(core_.vector_load_latency) : hit_; }

  // Registers that the piece reads before it writes them.
  void find_inputs() {
    std::array<bool, 64> written{}, listed{};
    written[kReady] = written[kNowhere] = true;
    const auto read = [&](std::uint8_t reg) {
      if (written[reg] || listed[reg]) return;
      listed[reg] = true;
      inputs_.push_back(reg);
    };
    for (int number = piece_.begin; number < piece_.end; ++number) {
      const Instruction& instruction = block_.instructions[number];
      for (const std::uint8_t reg : instruction.address) read(reg);
      for (const std::uint8_t reg : instruction.sources) read(reg);
      for (const std::uint8_t reg : instruction.results) written[reg] = true;
    }
  }

  // Plays the piece far from its dispatch with one register, or the data of one load, at kFar; all else is at 0.
  Times play_from(std::uint8_t reg, int far_load) {
    Times times{};
    if (far_load < 0) times[reg] = kFar;
    play(
        block_, piece_, core_, 0, times.data(),
        [&](int number, Stamp ready, bool vector) {
          addresses_[number] = ready;
          return number == far_load ? kFar : ready + hit(vector);
        },
        [&](int number, Stamp at) { starts_[number - piece_.begin] = at; });
    return times;
  }

  // What waits for the register or load that was played last.
  Dependents dependents() const {
    Dependents to;
    Stamp later = 0, count = 0;
    for (int i = 0; i < piece_.instructions; ++i) {
      if (starts_[i] < kFar || !is_scheduled(block_.instructions[piece_.begin + i])) continue;
      to.instructions = static_cast<std::uint16_t>(to.instructions | 1u << i);
      ++count;
      later += starts_[i] - kFar;
    }
    // A stamp's cause is not a time.
    if (count != 0) to.later = static_cast<std::uint32_t>(time_of(later / count));
    return to;
  }

  void results_of_dispatch() {
    Times times{};
    std::array<bool, kSinks> changed{};
    for (int number = piece_.begin; number < piece_.end; ++number) {
      const Instruction& instruction = block_.instructions[number];
      for (const std::uint8_t reg : instruction.results) changed[reg] = true;
      if (instruction.branch) changed[kBranchResolved] = true;
      if (instruction.store) changed[block_.store_sinks[number]] = true;
    }
    changed[kNowhere] = false;
    changed[kDone] = true;
    play(block_, piece_, core_, 0, times.data(), [&](int number, Stamp ready, bool vector) {
      offsets_[number] = static_cast<std::uint32_t>(ready);
      return ready + hit(vector);
    });
    piece_.result_first = static_cast<std::uint32_t>(block_.results.size());
    for (int sink = 0; sink < kSinks; ++sink) {
      if (changed[sink]) block_.results.push_back(static_cast<std::uint8_t>(sink));
    }
    piece_.results = static_cast<std::uint16_t>(block_.results.size() - piece_.result_first);
    piece_.vectors = static_cast<std::uint16_t>((piece_.results + kLanes - 1) / kLanes);
    block_.results.resize(piece_.result_first + piece_.vectors * kLanes, kNowhere);
    piece_.row = static_cast<std::uint32_t>(block_.rows.size());
    block_.rows.resize(block_.rows.size() + piece_.vectors, {Lanes{}});
    for (int i = 0; i < piece_.results; ++i) {
      set(piece_.row, i,
          static_cast<std::int32_t>(times[block_.results[piece_.result_first + static_cast<std::uint32_t>(i)]]));
    }
  }

  static std::uint32_t below(Stamp far) { return static_cast<std::uint32_t>(far - kFar); }

  void set(std::uint32_t row, int result, std::int32_t value) {
    Lanes& lanes = block_.rows[row + static_cast<std::uint32_t>(result) / kLanes].lanes;
    lanes[static_cast<std::uint32_t>(result) % kLanes] = value;
  }
  std::int32_t get(std::uint32_t row, int result) const {
    const Lanes& lanes = block_.rows[row + static_cast<std::uint32_t>(result) / kLanes].lanes;
    return lanes[static_cast<std::uint32_t>(result) % kLanes];
  }

  // A row with the paths to all results, and the slack of what they come from.
  std::pair<std::uint32_t, std::uint32_t> add_row(const Times& times) {
    const auto row = static_cast<std::uint32_t>(block_.rows.size());
    block_.rows.resize(block_.rows.size() + piece_.vectors, {Lanes{} + kNoPath});
    std::int64_t slack = kLatest;
    for (int i = 0; i < piece_.results; ++i) {
      const std::uint8_t sink = block_.results[piece_.result_first + static_cast<std::uint32_t>(i)];
      if (times[sink] < kFar) continue;
      set(row, i, static_cast<std::int32_t>(below(times[sink])));
      slack = std::min<std::int64_t>(slack, get(piece_.row, i) - std::int64_t{below(times[sink])});
    }
    return {row, static_cast<std::uint32_t>(std::max<std::int64_t>(slack, 0))};
  }

  void add_loads(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& rows,
                 const std::vector<std::vector<Path>>& from_inputs, const std::vector<std::vector<Path>>& from_loads) {
    piece_.load_first = static_cast<std::uint32_t>(block_.loads.size());
    std::size_t load = 0;
    for (int number = piece_.begin; number < piece_.end; ++number) {
      if (!block_.instructions[number].load) continue;
      block_.load_numbers[static_cast<std::size_t>(number)] = static_cast<std::uint8_t>(load);
      block_.loads.push_back({static_cast<std::uint16_t>(from_inputs[load].size()),
                              static_cast<std::uint16_t>(from_loads[load].size()), rows[load].first, rows[load].second,
                              static_cast<std::uint32_t>(block_.address_paths.size()), offsets_[load], 0,
                              static_cast<std::uint32_t>(hit(block_.instructions[number].vector)),
                              block_.instructions[number].vector, false});
      for (const Path& path : from_loads[load]) {
        block_.loads.back().after |= 1u << path.from;
        block_.loads[piece_.load_first + path.from].feeds = true;
      }
      for (const auto* list : {&from_inputs[load], &from_loads[load]}) {
        block_.address_paths.insert(block_.address_paths.end(), list->begin(), list->end());
      }
      ++load;
    }
  }

  Block& block_;
  Piece& piece_;
  const CoreSettings& core_;
  Stamp hit_;
  std::vector<std::uint8_t> inputs_;
  std::array<Stamp, kMostInPiece> addresses_{};
  std::array<std::uint32_t, kMostInPiece> offsets_{};
  std::array<Stamp, kMostInPiece> starts_{};
};

}  // namespace

Stamp latency_of(Kind kind, const CoreSettings& core) {
  switch (kind) {
    case Kind::kNone:
    case Kind::kMove:
      return 0;
    case Kind::kInteger:
    case Kind::kVector:
      return core.cycles(1);
    case Kind::kMultiply:
      return core.cycles(core.multiply_latency);
    case Kind::kDivide:
      return core.cycles(core.divide_latency);
    case Kind::kFloat:
      return core.cycles(core.float_latency);
    case Kind::kFloatAdd:
      return core.cycles(core.float_add_latency);
    case Kind::kFloatCompare:
      return core.cycles(1 + core.transfer_latency);
    case Kind::kConvert:
      return core.cycles(core.float_latency + core.transfer_latency);
    case Kind::kTransfer:
      return core.cycles(core.transfer_latency);
    case Kind::kFloatDivide:
      return core.cycles(core.float_divide_latency);
  }
  return 0;
}

void prepare(Block& block, const CoreSettings& core, Stamp hit) {
  block.store_sinks.assign(block.instructions.size(), kNowhere);
  block.load_numbers.assign(block.instructions.size(), kNowhere);
  const auto count = static_cast<int>(block.instructions.size());
  std::size_t mark = 0;
  for (int begin = 0; begin < count;) {
    Piece piece;
    piece.begin = static_cast<std::uint16_t>(begin);
    int end = std::min(count, begin + kMostInPiece);
    while (mark < block.marks.size() && block.marks[mark] < begin) ++mark;
    if (mark < block.marks.size() && block.marks[mark] < end) end = block.marks[mark] + 1;
    piece.end = static_cast<std::uint16_t>(end);
    piece.instructions = static_cast<std::uint16_t>(end - begin);
    piece.code_begin = block.address + block.starts[piece.begin];
    piece.code_last = block.address + block.starts[piece.end] - 1;
    std::array<double, kResources> occupied{};
    for (int number = begin; number < end; ++number) {
      const Instruction& instruction = block.instructions[number];
      piece.operations = static_cast<std::uint16_t>(piece.operations + instruction.operations);
      if (instruction.store) block.store_sinks[number] = static_cast<std::uint8_t>(kStores + piece.stores);
      piece.loads = static_cast<std::uint16_t>(piece.loads + instruction.load);
      piece.stores = static_cast<std::uint16_t>(piece.stores + instruction.store);
      occupy(occupied, instruction, core);
    }
    piece.length = piece.operations * kTick;
    piece.units_row = static_cast<std::uint32_t>(block.rows.size());
    block.rows.resize(block.rows.size() + kUnitVectors, {Lanes{}});
    for (std::uint32_t resource = 0; resource < kResources; ++resource) {
      block.rows[piece.units_row + resource / kLanes].lanes[resource % kLanes] =
          static_cast<std::int32_t>(occupied[resource] + 0.5);
    }
    Summary(block, piece, core, hit).make();
    block.pieces.push_back(piece);
    begin = end;
  }
  block.prepared = true;
}

}  // namespace manynode::node
