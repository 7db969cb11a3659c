#include "core.hpp"

#include <emmintrin.h>

#include <algorithm>

namespace manynode::node {
namespace {

// The time of a store on several ports is not a whole number of ticks (width 5, 2 ports: 2.5).
constexpr std::uint64_t kPartsOfTick = 1 << 16;
// Operations between fetch and dispatch: 56 to 144 in cores of the last ten years. It only matters how far fetch runs
// ahead while dispatch waits.
constexpr std::uint64_t kFetchQueue = 64;

// Whether any lane of a comparison is true.
bool any(Lanes compared) {
  const auto halves =
      __builtin_shufflevector(compared, compared, 0, 1, 2, 3) | __builtin_shufflevector(compared, compared, 4, 5, 6, 7);
  return _mm_movemask_epi8(reinterpret_cast<__m128i>(halves)) != 0;
}

// How far the clock goes from its epoch: with kLatest, far from what 32 bits hold, and seldom passed.
constexpr Stamp kEpoch = Stamp{1} << 28;

}  // namespace

Core::Core(const NodeSettings& settings, Uncore& uncore, Place place)
    : memory(settings, uncore, place, now_),
      settings_(settings),
      predictor_(settings.core.predictor),
      frontend_(settings.core.cycles(settings.core.frontend_depth)),
      units_ahead_(settings.core.scheduler * kTick),
      fetch_cycle_(settings.core.fetch_bits == 0 ? 0 : settings.core.width * kTick),
      fetch_ahead_(kFetchQueue * kTick),
      store_parts_((settings.core.width * kPartsOfTick + settings.core.store_ports / 2) / settings.core.store_ports),
      fill_time_(settings.core.cycles(settings.l1d.line_fill)),
      reorder_buffer_(settings.core.reorder_buffer),
      store_queue_(settings.core.store_queue),
      scheduler_(settings.core.scheduler, settings.core.cycles(1)),
      reorder_room_(settings.core.reorder_buffer),
      load_room_(settings.core.load_queue) {}

// Charges the time up to `need` to what it waits for. Its cause counts only while such a miss is in flight: what comes
// after is the latency of instructions that depend on it.
void Core::stall_until(Stamp need) {
  const Cause cause = cause_of(need);
  const Stamp end = time_of(need);
  const auto part = [&](Cause of, Stamp before = 0) {
    const Stamp until = std::min(end - std::min(before, end), time_of(memory.until(of)));
    if (until <= now_) return;
    charge(of, until - now_);
    now_ = until;
  };
  if (cause != Cause::kDependence) {
    part(Cause::kTlb);
    // The line would have been there earlier by what it waited for others.
    if (cause == Cause::kBandwidth) part(Cause::kMemory, memory.bandwidth_wait());
    if (cause != Cause::kTlb) part(cause);
  }
  if (end > now_) {
    charge(Cause::kDependence, end - now_);
    now_ = end;
  }
}

inline void Core::fetch(const Piece& piece) {
  const int bits = static_cast<int>(settings_.line_bits);
  std::uint64_t line = piece.code_begin >> bits;
  const std::uint64_t last = piece.code_last >> bits;
  if (last == code_line_ && (line == last || (line == first_code_line_ && memory.counts.recalls == recalls_))) return;
  first_code_line_ = line;
  if (const std::uint64_t page = memory.page_of(piece.code_begin); page != code_page_) {
    code_page_ = page;
    if (const Stamp late = memory.translate_code(piece.code_begin, now_)) {
      charge(Cause::kTlb, late);
      now_ += late;
    }
  }
  for (; line <= last; ++line) {
    if (const Stamp late = memory.fetch(line, now_)) {
      charge(Cause::kInstructions, late);
      now_ += late;
    }
  }
  code_line_ = last;
  recalls_ = memory.counts.recalls;
}

// A cycle for each aligned block of code that the piece lies in, but not again for one that the piece before fell into
// this one from.
void Core::fetch_blocks(const Piece& piece) {
  const std::uint32_t bits = settings_.core.fetch_bits;
  const std::uint64_t first = piece.code_begin >> bits, last = piece.code_last >> bits;
  const bool goes_on = piece.code_begin == next_code_ && first == (next_code_ - 1) >> bits;
  next_code_ = piece.code_last + 1;
  fetched_ = std::max(fetched_, now_ - std::min(now_, fetch_ahead_)) + (last - first + !goes_on) * fetch_cycle_;
  const Stamp dispatched = now_ + piece.length;
  if (fetched_ > dispatched) {
    charge(Cause::kInstructions, fetched_ - dispatched);
    now_ += fetched_ - dispatched;
  }
}

// Waits until the reorder buffer, the load queue and the store queue have room. A piece enters and leaves as a whole;
// the middle of it stands for its operations.
inline void Core::make_room(const Piece& piece) {
  const std::uint64_t upto = operations_ + piece.operations / 2u, loads = counts.loads + (piece.loads + 1u) / 2u;
  const Stamp retired =
      reorder_buffer_.take_out([&](const Retired& first) { return first.room <= upto || first.load_room <= loads; });
  if (retired > now_) stall_until(retired);
  if (piece.stores == 0) return;
  const std::uint64_t stores = counts.stores + piece.stores;
  const Stamp drained = store_queue_.take_out([&](const Retired& first) { return first.room <= stores; });
  if (drained <= now_) return;
  memory.held_by_store(drained);
  stall_until(drained);
}

// When the address of a load is there; `data` are the times of earlier loads of the piece that are `late` (a bit each).
[[gnu::always_inline]] inline Stamp Core::address_of(const Block& block, const Load& load, std::uint32_t late,
                                                     const Stamp* data) const {
  std::int32_t ready = from_epoch(now_) + static_cast<std::int32_t>(load.offset);
  const Path* path = block.address_paths.data() + load.address_first;
  for (int i = 0; i < load.from_inputs; ++i, ++path) {
    ready = std::max(ready, times_[path->from] + static_cast<std::int32_t>(path->length));
  }
  Stamp at = epoch_ + static_cast<Stamp>(ready);
  if ((late & load.after) == 0) return at;
  for (int i = 0; i < load.from_loads; ++i, ++path) {
    if ((late >> path->from & 1) != 0) at = std::max(at, data[path->from] + path->length);
  }
  return at;
}

// Calls `add(time of the data, row)` for the noted loads of a piece whose data comes later than from a
// hit, and so late that it matters.
//
// A load that only waits for a line on its way needs no address: its data comes with the line or as from a hit, and the
// piece's map has the time of the hit. An arrival before that changes no maximum.
template <typename Add>
inline void Core::add_late_loads(const Block& block, const Piece& piece, Add&& add) {
  const Load* const loads = block.loads.data() + piece.load_first;
  const std::uint8_t* const numbers = block.load_numbers.data();
  Stamp data[kMostInPiece];  // of loads that may come later than hits, where others need them
  std::uint32_t known = 0;   // which of them
  const Access* noted = load_;
  const Access* const end = loads_end_;
  do {
    const Access& access = *noted++;
    const std::uint8_t number = numbers[access.instruction];
    if (number == kNowhere) continue;  // not known as a load
    const Load& load = loads[number];
    Stamp got;
    if (access.what == Access::kHeld) {
      got = memory.arrival_of(access);
      if (got <= now_ + load.offset + load.hit) continue;
    } else {
      const Stamp at = address_of(block, load, known, data);
      got = memory.finish_load(access, block.address_of(access.instruction), at, load.vector);
      if (got <= at + load.hit) continue;
    }
    if (load.feeds) {
      const std::uint32_t bit = 1u << number;
      data[number] = (known & bit) != 0 ? std::max(data[number], got) : got;  // an instruction may access two lines
      known |= bit;
    }
    // It is never so late that the bound matters: millions of cycles.
    if (got > now_ + load.slack) {
      add(static_cast<std::int32_t>(std::min<Stamp>(got - epoch_, kLatest)), load.row);
      scheduler_.wait(got, now_, block.load_dependents[piece.load_first + number]);
    }
  } while (noted != end && noted->instruction < piece.end);
  load_ = noted;
}

// Times of all results of a piece (see block.hpp). Nearly all pieces have one vector of them, which then stays in a
// register of this host.
template <bool kOneVector>
[[gnu::always_inline]] inline void Core::evaluate(const Block& block, const Piece& piece) {
  const LanesOfRow* const rows = block.rows.data();
  const std::uint32_t vectors = kOneVector ? 1 : piece.vectors;
  Lanes times[kOneVector ? 1 : kMostVectors];
  const std::int32_t now = from_epoch(now_);
  for (std::uint32_t vector = 0; vector < vectors; ++vector) times[vector] = rows[piece.row + vector].lanes + now;
  const auto add = [&](std::int32_t at, std::uint32_t row) {
    for (std::uint32_t vector = 0; vector < vectors; ++vector) {
      const Lanes other = rows[row + vector].lanes + at;
      times[vector] = times[vector] > other ? times[vector] : other;
    }
  };
  const Input* input = block.inputs.data() + piece.input_first;
  std::size_t number = piece.input_first;
  for (const Input* const end = input + piece.inputs; input != end; ++input, ++number) {
    const std::int32_t at = times_[input->reg];
    if (at > now + input->slack) {
      add(at, input->row);
      scheduler_.wait(epoch_ + static_cast<Stamp>(at), now_, block.input_dependents[number]);
    }
  }
  if (load_ != loads_end_ && load_->instruction < piece.end) add_late_loads(block, piece, add);
  const std::uint8_t* sinks = block.results.data() + piece.result_first;
  for (std::uint32_t vector = 0; vector < vectors; ++vector, sinks += kLanes) {
    const Lanes all = times[vector];
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) times_[sinks[lane]] = all[lane];
  }
}

[[gnu::noinline]] void Core::evaluate_long(const Block& block, const Piece& piece) { evaluate<false>(block, piece); }

// Stores leave the queue in order, when their line is there, which they ask for when they have retired.
void Core::finish_stores(const Block& block, const Piece& piece) {
  // Only whole ticks may be added to a stamp, whose low bits are its cause.
  parts_left_ += store_parts_ * piece.stores;
  Stamp leaves = std::max(drained_ + parts_left_ / kPartsOfTick * kTick, retired_);
  parts_left_ %= kPartsOfTick;
  while (store_ != stores_end_ && store_->instruction < piece.end) {
    const Access& access = *store_++;
    const std::uint8_t sink = block.store_sinks[access.instruction];
    if (sink == kNowhere) continue;
    leaves =
        std::max(leaves, memory.finish_store(access, block.address_of(access.instruction), time_at(sink), retired_));
  }
  drained_ = leaves;
  counts.stores += piece.stores;
  store_queue_.push(counts.stores + settings_.core.store_queue, 0, leaves);
}

// Lines that have come to the first level since keep all its ports for loads.
inline void Core::take_fills(std::int32_t now) {
  const auto time = static_cast<std::int32_t>((memory.counts.l1d_fills - fills_) * fill_time_);
  fills_ = memory.counts.l1d_fills;
  for (const Resource port : {kLoadPort, kVectorLoadPort}) {
    Lanes& busy = busy_[port / kLanes];
    busy[port % kLanes] = std::max(busy[port % kLanes], now) + time;
  }
}

// Units and ports that the piece occupies, from now on or from when they are free. All of them are handled at once:
// those that it does not need stay as they are.
inline void Core::use_units(const Block& block, const Piece& piece) {
  if (__builtin_expect(now_ - epoch_ >= kEpoch, 0)) move_epoch();
  const std::int32_t now = from_epoch(now_);
  if (fill_time_ != 0 && memory.counts.l1d_fills != fills_) take_fills(now);
  const auto ahead = now + static_cast<std::int32_t>(piece.length + units_ahead_);
  const LanesOfRow* const row = block.rows.data() + piece.units_row;
  Lanes exceeds{};
  for (std::uint32_t vector = 0; vector < kUnitVectors; ++vector) {
    const Lanes busy = busy_[vector], begin = Lanes{} + now;
    busy_[vector] = (busy > begin ? busy : begin) + row[vector].lanes;
    exceeds |= busy_[vector] > ahead;
  }
  if (any(exceeds)) wait_for_units(ahead);
}

// The epoch is now. What is long past stays so: it may say a later time than it was, but one before now, which makes
// nothing late.
[[gnu::noinline]] void Core::move_epoch() {
  const auto by = static_cast<std::int64_t>(now_ - epoch_);
  const auto moved = [&](std::int32_t time) {
    return static_cast<std::int32_t>(std::max<std::int64_t>(time - by, kLongAgo));
  };
  for (std::int32_t& time : times_) time = moved(time);
  for (Lanes& busy : busy_) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) busy[lane] = moved(busy[lane]);
  }
  epoch_ = now_;
}

// Dispatch waits until the busiest unit is busy no longer than to `ahead`.
[[gnu::noinline]] void Core::wait_for_units(std::int32_t ahead) {
  std::int32_t need = ahead;
  for (const Lanes& busy : busy_) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) need = std::max(need, busy[lane]);
  }
  const Stamp late = time_of(static_cast<Stamp>(need - ahead));
  charge(Cause::kDependence, late);
  now_ += late;
}

inline void Core::resolve(const Block& block, std::uint64_t target) {
  ++counts.branches;
  if (!predictor_.is_right(block.ending, block.last_address, block.next_address, target)) mispredicted();
}

[[gnu::noinline]] void Core::mispredicted() {
  ++counts.branch_misses;
  // Waiting for a condition that comes from memory is memory's; the rest is the branch's own.
  const Stamp resolved = time_at(kBranchResolved);
  if (resolved > now_) {
    if (cause_of(resolved) != Cause::kDependence) {
      stall_until(std::min(resolved, stamped(memory.until(cause_of(resolved)), cause_of(resolved))));
    }
    if (time_of(resolved) > now_) {
      charge(Cause::kBranch, time_of(resolved) - now_);
      now_ = time_of(resolved);
    }
  }
  charge(Cause::kBranch, frontend_);
  now_ += frontend_;
  fetched_ = now_;
}

[[gnu::always_inline]] inline void Core::run_pieces(const Block& block, std::size_t first, std::size_t end) {
  load_ = memory.loads.data();
  loads_end_ = load_ + memory.loads.size();
  store_ = memory.stores.data();
  stores_end_ = store_ + memory.stores.size();
  const Piece* const last = block.pieces.data() + end;
  for (const Piece* at = block.pieces.data() + first; at != last; ++at) {
    const Piece& piece = *at;
    fetch(piece);
    if (fetch_cycle_ != 0) fetch_blocks(piece);
    make_room(piece);
    use_units(block, piece);
    if (__builtin_expect(piece.vectors == 1, 1)) {
      evaluate<true>(block, piece);
    } else {
      evaluate_long(block, piece);
    }
    const Stamp done = time_at(kDone), length = piece.length;
    now_ += length;
    charge(Cause::kBase, length);
    const std::uint64_t operations = operations_ += piece.operations, loads = counts.loads += piece.loads;
    const Stamp retired = retired_ = std::max(retired_ + length, done);
    reorder_buffer_.push(operations - piece.operations / 2u + reorder_room_, loads - piece.loads / 2u + load_room_,
                         retired);
    if (piece.stores != 0) finish_stores(block, piece);
    counts.instructions += piece.instructions;
    if (scheduler_.has_late()) {
      if (const Stamp room = scheduler_.dispatched(now_); room > now_) stall_until(room);
    }
  }
  memory.loads.clear();
  memory.stores.clear();
}

// Both are called from few places and often: what they call is put into them.
void Core::run(const Block& block, std::size_t first, std::size_t end) { run_pieces(block, first, end); }

void Core::finish(const Block& block, std::size_t first, std::uint64_t target) {
  run_pieces(block, first, block.pieces.size());
  if (block.ending != Ending::kNone) resolve(block, target);
}

void Core::follow(const Block& block, std::uint64_t target) {
  if (block.ending != Ending::kNone) resolve(block, target);
}

void Core::drain() {
  if (retired_ > now_) stall_until(retired_);
  retired_ = now_;
}

void Core::idle_until(Stamp to) {
  to = time_of(to);
  if (to <= now_) return;
  charge(Cause::kThreads, to - now_);
  now_ = to;
  retired_ = std::max(retired_, to);
}

}  // namespace manynode::node
