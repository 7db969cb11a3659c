// One core: runs blocks and keeps its clock, its counts and its CPI stack.
//
// The clock is the time of dispatch. Operations are dispatched in order, `width` per cycle, while they find room in the
// reorder buffer and in the store queue; they start when their operands are ready and leave in order. What holds
// dispatch back is charged to its cause; every tick of the clock is charged exactly once. Units and ports limit the
// rate: a piece occupies each for a time, and dispatch runs ahead of the busiest by no more than the scheduler holds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "block.hpp"
#include "branch_predictor.hpp"
#include "memory_path.hpp"
#include "scheduler.hpp"

namespace manynode::node {

struct CoreCounts {
  std::uint64_t instructions = 0, loads = 0, stores = 0, branches = 0, branch_misses = 0;
  std::array<Stamp, kCauses> stack{};  // adds up to the clock
};

class Core {
 public:
  Core(const NodeSettings& settings, Uncore& uncore, Place place);

  // Runs pieces of a block from number `first` up to and without `end`; the noted accesses of `memory` are those of
  // these pieces. The block must be prepared.
  void run(const Block& block, std::size_t first, std::size_t end);
  // The block has ended and `target` follows: the branch at its end, if any, is predicted and resolved.
  void follow(const Block& block, std::uint64_t target);
  // Both, for all pieces from number `first` on.
  void finish(const Block& block, std::size_t first, std::uint64_t target);
  // Waits until all that is dispatched is done: the end of a compute phase.
  void drain();
  // Goes to a later time without work: `to` is when others' work let this core go on.
  void idle_until(Stamp to);

  Stamp now() const { return now_; }
  std::uint64_t cycles() const { return now_ / (kTick * settings_.core.width); }

  MemoryPath memory;
  CoreCounts counts;

 private:
  friend struct CoreTimes;  // of tests: sets and reads the registers' times

  struct Retired {
    std::uint64_t room = 0, load_room = 0;  // operations and loads up to which there is room without this piece
    Stamp at = 0;
  };
  // Pieces in flight, oldest first; twice as many places as operations, because a piece can be a fused jump alone.
  class Queue {
   public:
    explicit Queue(std::uint32_t operations) : pieces_(std::bit_ceil(2 * operations + 64)), mask_(pieces_.size() - 1) {}
    // Takes out the oldest pieces while `is_in_the_way(piece)`; returns when the last one of them leaves (0: none).
    template <typename IsInTheWay>
    Stamp take_out(IsInTheWay&& is_in_the_way) {
      Stamp at = 0;
      std::size_t oldest = oldest_;
      for (; oldest != youngest_; ++oldest) {
        const Retired& piece = pieces_[oldest & mask_];
        if (!is_in_the_way(piece)) break;
        at = piece.at;
      }
      oldest_ = oldest;
      return at;
    }
    void push(std::uint64_t room, std::uint64_t load_room, Stamp at) {
      Retired& piece = pieces_[youngest_++ & mask_];
      piece.room = room;
      piece.load_room = load_room;
      piece.at = at;
    }

   private:
    std::vector<Retired> pieces_;
    std::size_t mask_, oldest_ = 0, youngest_ = 0;
  };

  void run_pieces(const Block& block, std::size_t first, std::size_t end);
  void resolve(const Block& block, std::uint64_t target);
  void mispredicted();
  void stall_until(Stamp need);
  void charge(Cause cause, Stamp time) { counts.stack[static_cast<int>(cause)] += time; }
  void fetch(const Piece& piece);
  void fetch_blocks(const Piece& piece);
  void make_room(const Piece& piece);
  void move_epoch();
  std::int32_t from_epoch(Stamp at) const { return static_cast<std::int32_t>(at - epoch_); }
  Stamp time_at(std::uint8_t sink) const { return epoch_ + static_cast<Stamp>(std::int64_t{times_[sink]}); }
  Stamp address_of(const Block& block, const Load& load, std::uint32_t late, const Stamp* data) const;
  template <typename Add>
  void add_late_loads(const Block& block, const Piece& piece, Add&& add);
  template <bool kOneVector>
  void evaluate(const Block& block, const Piece& piece);
  void evaluate_long(const Block& block, const Piece& piece);
  void finish_stores(const Block& block, const Piece& piece);
  void use_units(const Block& block, const Piece& piece);
  void take_fills(std::int32_t now);
  void wait_for_units(std::int32_t ahead);

  const NodeSettings settings_;
  BranchPredictor predictor_;
  Stamp now_ = 0, retired_ = 0, drained_ = 0;
  Stamp frontend_, units_ahead_;
  Stamp fetch_cycle_, fetch_ahead_;
  Stamp fetched_ = 0;            // when the code up to next_code_ has left the instruction cache
  std::uint64_t next_code_ = 0;  // behind the code fetched last
  // How long a port takes for a store, and what is left over from stores before: parts of a tick.
  std::uint64_t store_parts_, parts_left_ = 0;
  // Times of registers and other sinks, and until when each resource is busy: stamps from epoch_ on, because vectors of
  // 32 bits hold twice as many.
  Stamp epoch_ = 0;
  std::array<std::int32_t, kSinks> times_{};
  std::array<Lanes, kUnitVectors> busy_{};
  // How long a line that comes to the first level keeps loads from starting, and the lines that did so.
  Stamp fill_time_;
  std::uint64_t fills_ = 0;
  Queue reorder_buffer_, store_queue_;
  Scheduler scheduler_;
  std::uint64_t reorder_room_, load_room_;
  std::uint64_t operations_ = 0;  // dispatched
  // The lines of the piece that was fetched last. A loop has them again, unless one was recalled since.
  std::uint64_t first_code_line_ = ~std::uint64_t{0}, code_line_ = ~std::uint64_t{0}, recalls_ = 0;
  std::uint64_t code_page_ = ~std::uint64_t{0};          // translated last
  const Access *load_ = nullptr, *loads_end_ = nullptr;  // noted accesses that have not been finished
  const Access *store_ = nullptr, *stores_end_ = nullptr;
};

}  // namespace manynode::node
