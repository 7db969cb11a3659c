// The way of one core's loads, stores and instruction fetches: first-level caches, address translation, second level,
// and what lies beyond (Uncore).
//
// A block runs in two steps. While the program executes it, `load` and `store` look up the first level, in program
// order; nearly all accesses end there. What needs time is noted. When the core works out the block's times,
// `finish_load` and `finish_store` do the rest of each noted access, now with the simulated time at which it happens.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fill_buffers.hpp"
#include "first_touch.hpp"
#include "prefetcher.hpp"
#include "rate_limit.hpp"
#include "settings.hpp"
#include "tag_store.hpp"
#include "uncore.hpp"

namespace manynode::node {

// 32 bytes, so that their number is a shift away from their addresses.
struct alignas(32) Access {
  enum What : std::uint8_t { kMissed = 1, kHeld = 2, kTlbMissed = 4, kForwarded = 8, kFirstUse = 16 };
  std::uint64_t address = 0;
  std::uint64_t victim = kAbsent;  // what a miss replaced in the first level
  std::uint16_t instruction = 0;   // in the block
  std::uint8_t what = 0;
};

// Accesses in program order. Fields are written one by one to their place: a whole object that this host would copy
// from its stack would wait for its parts there.
class AccessList {
 public:
  AccessList() { clear(); }
  void add(std::uint64_t address, std::uint64_t victim, std::uint16_t instruction, std::uint8_t what) {
    next_->address = address;
    next_->victim = victim;
    next_->instruction = instruction;
    next_->what = what;
    if (__builtin_expect(++next_ == end_, 0)) grow();
  }
  const Access* data() const { return places_.data(); }
  std::size_t size() const { return static_cast<std::size_t>(next_ - places_.data()); }
  void clear() {
    next_ = places_.data();
    end_ = next_ + places_.size();
  }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t count = places_.size();
    places_.resize(2 * count);
    next_ = places_.data() + count;
    end_ = places_.data() + places_.size();
  }

  Access *next_, *end_;
  std::vector<Access> places_ = std::vector<Access>(1024);
};

struct MemoryCounts {
  // of loads, stores and instruction fetches; prefetches have a count of their own
  std::uint64_t l1d_misses = 0, l1i_misses = 0, l2_misses = 0, last_level_misses = 0;
  std::uint64_t tlb_misses = 0, page_walks = 0, prefetches = 0, recalls = 0;
  std::uint64_t memory_lines = 0;  // to and from memory, for any reason
  std::uint64_t l1d_fills = 0;     // lines that came to the first level of data, prefetched ones among them
};

// Where a core's requests go.
struct Place {
  std::uint32_t slot = 0;        // of this core
  std::uint32_t owner = 0;       // the first slot of its rank: names the rank's lines
  std::uint32_t last_level = 0;  // its last-level cache
  std::uint32_t domain = 0;      // its memory domain
  FirstTouch* pages = nullptr;   // nullptr: all pages are in its own domain
};

class MemoryPath {
 public:
  // `now` is the core's dispatch time, which only grows.
  MemoryPath(const NodeSettings& settings, Uncore& uncore, Place place, const Stamp& now);

  // `size` is at most 8 bytes. What is not at hand goes to functions of its own, so that this one needs no stack frame.
  void load(std::uint64_t address, std::uint32_t size, std::uint16_t instruction) {
    const std::uint64_t line = address >> line_bits_, word = address >> 3;
    const bool simple = ((address + size - 1) >> line_bits_) == line && stored_[word % kStored].word != word;
    if (__builtin_expect(!simple, 0)) return look(address, size, instruction, false);
    if (data_tlb_.front(address >> tlb_bits_) != address >> tlb_bits_) return load_other_page(address, instruction);
    load_from_line(address, instruction);
  }
  void store(std::uint64_t address, std::uint32_t size, std::uint16_t instruction) {
    const std::uint64_t line = address >> line_bits_;
    std::uint64_t& front = l1d_.front(line);
    const bool at_hand = ((front ^ line) & ~kDirty) == 0 && ((address + size - 1) >> line_bits_) == line &&
                         data_tlb_.front(address >> tlb_bits_) == address >> tlb_bits_;
    if (__builtin_expect(!at_hand, 0)) return look(address, size, instruction, true);
    front |= kDirty;
    stores.add(address, kAbsent, instruction, 0);
  }

  // Noted accesses of the block, in program order.
  AccessList loads, stores;

  // When the line of a noted access that only waits for it (kHeld) comes; 0: it is there.
  Stamp arrival_of(const Access& noted) const {
    const std::uint64_t line = noted.address >> line_bits_;
    const Arrival& arrival = arrivals_[line % kArrivals];
    return arrival.line == line ? arrival.at : 0;
  }
  // The data of a load whose address is ready at `at`; `vector`: it goes to a vector register.
  Stamp finish_load(const Access& noted, std::uint64_t code, Stamp at, bool vector = false) {
    if (noted.what == Access::kHeld) return std::max(at + hit_latency(vector), arrival_of(noted));
    return finish_load_slowly(noted, code, at, vector);
  }
  // A store with address and data at `at`, whose piece has left the reorder buffer at `retired`; returns when its line
  // is there (0: it was).
  Stamp finish_store(const Access& access, std::uint64_t code, Stamp at, Stamp retired);
  // A code line; returns what the fetch adds to `now` (0 for a hit).
  Stamp fetch(std::uint64_t line, Stamp now) {
    if (__builtin_expect(l1i_.front(line) == line, 1)) return 0;
    return fetch_slowly(line, now);
  }
  std::uint64_t page_of(std::uint64_t address) const { return address >> page_bits_; }
  // The code page of an address, likewise.
  Stamp translate_code(std::uint64_t address, Stamp now) {
    const std::uint64_t page = address >> page_bits_;
    if (__builtin_expect(code_tlb_.front(page) == page, 1)) return 0;
    return translate_code_slowly(page, now);
  }

  // What came from outside the node is written to memory or to the last level, and is gone from this core's caches.
  // What goes out is read. Lines follow each other from `now` on (Uncore::transfer_of_message).
  void inject(std::uint64_t address, std::uint64_t bytes, bool write, Stamp now);
  // Gives up the lines that an inclusive last level recalled. A miss of the second level does so. A core that works in
  // its own caches has none: call this between two of its blocks whenever it synchronises. It costs two reads if there
  // is nothing to give up.
  void give_up_recalled(Stamp now);

  Stamp hit_latency(bool vector = false) const { return vector ? vector_latency_ : l1_latency_; }
  // Until when misses with this cause are in flight.
  Stamp until(Cause cause) const { return until_[static_cast<int>(cause)]; }

  // Dispatch waits for a store until then. Only now is its translation in flight for the core: a store translates long
  // after its dispatch, when nothing else waits for it.
  void held_by_store(Stamp until) {
    if (cause_of(until) == Cause::kTlb) note(Cause::kTlb, until);
  }

  // What the latest line from memory waited for other lines.
  Stamp bandwidth_wait() const { return bandwidth_wait_; }

  MemoryCounts counts;

 private:
  static constexpr std::size_t kStored = 128, kArrivals = 512, kL2Arrivals = 4096, kFrames = 256, kReverse = 1 << 14;
  struct Arrival {
    std::uint64_t line = kAbsent;
    Stamp at = 0;
  };
  struct Stored {
    std::uint64_t word = ~std::uint64_t{0};
    Stamp ready = 0;
  };
  struct Frame {
    std::uint64_t page = ~std::uint64_t{0}, first_line = 0;
  };

  // These are the parts of a load from one line that gets no data of a store in flight.
  void load_other_page(std::uint64_t address, std::uint16_t instruction);
  void load_from_line(std::uint64_t address, std::uint16_t instruction) {
    const std::uint64_t line = address >> line_bits_;
    const std::uint64_t difference = (l1d_.front(line) ^ line) & ~kDirty;
    if (difference == 0) return;
    if (difference == kPending) return load_pending(address, instruction);
    load_behind(address, instruction);
  }
  void load_pending(std::uint64_t address, std::uint16_t instruction);
  void load_behind(std::uint64_t address, std::uint16_t instruction);
  void load_missed(std::uint64_t address, std::uint64_t victim, std::uint16_t instruction);
  void look(std::uint64_t address, std::uint32_t size, std::uint16_t instruction, bool store);
  void look_at_line(std::uint64_t address, std::uint16_t instruction, bool store);
  void look_in_cache(std::uint64_t address, std::uint16_t instruction, bool store, std::uint8_t what);
  void miss_begins(std::uint64_t line);
  Stamp translate(const Access& access, Stamp at);
  Stamp access(const Access& access, std::uint64_t code, Stamp at);
  Stamp finish_load_slowly(const Access& noted, std::uint64_t code, Stamp at, bool vector);
  Stamp translate_slowly(std::uint64_t page, Stamp at);
  Stamp fetch_slowly(std::uint64_t line, Stamp now);
  Stamp translate_code_slowly(std::uint64_t page, Stamp now);
  Stamp miss(std::uint64_t line, std::uint64_t victim, std::uint64_t code, Stamp at);
  enum class Why { kData, kCode, kPrefetch };
  Stamp from_l2(std::uint64_t line, std::uint64_t page, std::uint64_t code, Why why, Stamp at);
  Stamp from_last_level(std::uint64_t& taken, std::uint64_t page, Why why, Stamp at);
  void replaced_in_l1(std::uint64_t victim, Stamp at);
  void replaced_in_l2(std::uint64_t victim, Stamp at);
  void replaced_in_last_level(const Uncore::Answer& answer, Stamp at);
  void prefetch_to_l1(std::uint64_t code, std::uint64_t line, Stamp at);
  void prefetch_to_l2(std::uint64_t code, std::uint64_t line, std::uint64_t page, Stamp at);
  void give_up_unheld(Stamp now);
  void drop(std::uint64_t line, Stamp at, bool written);
  std::uint64_t physical(std::uint64_t line);
  void note(Cause cause, Stamp until) {
    Stamp& at = until_[static_cast<int>(cause)];
    if (until > at) at = until;
  }

  // first: what every access reads
  int line_bits_, page_bits_;
  int tlb_bits_;  // page_bits_, or so many that all addresses are one page where translation takes no time
  TagStore l1d_, data_tlb_;
  std::array<Stored, kStored> stored_;
  std::array<Arrival, kArrivals> arrivals_;
  TagStore l1i_, l2_, code_tlb_, second_tlb_;
  const Stamp& now_;
  const NodeSettings settings_;
  Uncore& uncore_;
  Place place_;
  Stamp l1_latency_, l2_latency_, last_level_latency_, memory_latency_, remote_latency_, second_tlb_latency_,
      walk_latency_;
  Stamp vector_latency_, forward_latency_, vector_forward_latency_;
  Stamp forwarded_late_;  // how long after a store's data is there a load may come and get it later than by a hit
  FillBuffers fill_buffers_, l2_fill_buffers_;
  std::array<Arrival, kL2Arrivals> l2_arrivals_;
  std::array<Frame, kFrames> frames_;
  std::array<std::uint64_t, kReverse> page_of_frame_;
  RateLimit from_l2_, from_last_level_;
  Stamp to_l2_;  // how long a line that is written back keeps the path from the second level
  Prefetcher l1_prefetcher_, l2_prefetcher_;
  std::array<Stamp, kCauses> until_{};
  Stamp bandwidth_wait_ = 0;
  std::uint64_t lost_recalls_ = 0;  // that have been looked after
};

}  // namespace manynode::node
