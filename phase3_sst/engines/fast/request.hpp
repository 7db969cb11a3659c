// The pending sends and receives of a rank, and its receives without a message.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "envelope.hpp"
#include "fetch_ahead.hpp"
#include "pool.hpp"
#include "sim_time.hpp"

namespace manynode::network {

// Half a cache line: a rank has dozens of them.
struct Request {
  Picoseconds time{0};     // of posting; once `complete`, of completion
  std::uint64_t bytes{0};  // of a receive: its buffer, later its matched message
  std::int32_t peer{0};    // of a receive, as tag and context
  std::int32_t tag{0};
  std::uint32_t id{0};  // the number that Wait names
  std::uint16_t context{0};
  bool receive : 1 {false};
  bool complete : 1 {false};
  bool awaited : 1 {false};  // its rank waits for it now
  bool in_use : 1 {false};

  Envelope envelope() const { return {peer, tag, context}; }
};

static_assert(sizeof(Request) == 32);

// Addressed by slots that do not move. The search begins with the most likely requests: the one after that of the last
// wait (waitall), the youngest (a blocking call) and the oldest.
class RequestTable {
 public:
  // The slot of a new request, in its initial state.
  std::uint32_t add() {
    if (in_use_ == 0) slots_.clear();
    std::uint32_t slot = static_cast<std::uint32_t>(slots_.size());
    if (slot >= kReuse && in_use_ * 2 < slot) {
      slot = 0;
      while (slots_[slot].in_use) ++slot;
      slots_[slot] = Request{};
    } else {
      slots_.emplace_back();
    }
    slots_[slot].in_use = true;
    ++in_use_;
    return slot;
  }

  // The slot of the request with this number, or kNone.
  std::uint32_t find(std::uint32_t id) {
    if (is(cursor_, id)) return cursor_;
    if (is(cursor_ + 1, id)) return ++cursor_;
    const auto last = static_cast<std::uint32_t>(slots_.size());
    if (last > 0 && is(last - 1, id)) return cursor_ = last - 1;
    for (std::uint32_t slot = 0; slot < last; ++slot) {
      if (is(slot, id)) return cursor_ = slot;
    }
    return kNone;
  }

  void remove(std::uint32_t slot) {
    slots_[slot].in_use = false;
    --in_use_;
  }

  // Prefetches the first requests.
  void fetch() const { fetch_lines_ahead(slots_.data(), 4); }

  Request& operator[](std::uint32_t slot) { return slots_[slot]; }
  const Request& operator[](std::uint32_t slot) const { return slots_[slot]; }

 private:
  // Below this many slots, holes stay until the table is empty: numbers and slots then keep the same order.
  static constexpr std::uint32_t kReuse = 256;

  bool is(std::uint32_t slot, std::uint32_t id) const {
    return slot < slots_.size() && slots_[slot].in_use && slots_[slot].id == id;
  }

  std::vector<Request> slots_;
  std::uint32_t in_use_{0};
  std::uint32_t cursor_{0};
};

// The unmatched receives of a rank, in posting order. The receives of a typical halo exchange fit in here, beside the
// rank's own cache line. Each has a fingerprint of one byte; eight are compared at a time.
class PostedReceives {
 public:
  std::uint32_t size() const { return many_ ? static_cast<std::uint32_t>(more_.size()) : waiting_; }

  void add(const Envelope& envelope, std::uint32_t slot) {
    // A receive that takes more than one envelope has the fingerprint kWild.
    const std::uint8_t mark = envelope.wild() ? kWild : envelope.fingerprint();
    if (!many_ && end_ == kInline && waiting_ < kInline / 2) close_gaps();
    if (!many_ && end_ < kInline && slot <= kGreatestInline) {
      marks_[end_] = mark;
      slots_[end_++] = static_cast<std::uint16_t>(slot);
      ++waiting_;
      any_wild_ = any_wild_ || mark == kWild;
      return;
    }
    if (!many_) move_out();
    more_.push_back({slot, mark});
  }

  // The place of the first receive that takes `message`, or kNone.
  std::uint32_t find(const Envelope& message, const RequestTable& requests) const {
    const std::uint8_t wanted = message.fingerprint();
    if (many_) {
      for (std::uint32_t place = 0; place < more_.size(); ++place) {
        if (more_[place].mark != wanted && more_[place].mark != kWild) continue;
        if (requests[more_[place].slot].envelope().takes(message)) return place;
      }
      return kNone;
    }
    std::uint32_t places = places_of(wanted);
    if (any_wild_) places |= places_of(kWild);
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<std::uint32_t>(std::countr_zero(places));
      if (requests[slots_[place]].envelope().takes(message)) return place;
    }
    return kNone;
  }

  // The slot at a place that find() returned.
  std::uint32_t slot(std::uint32_t place) const { return many_ ? more_[place].slot : slots_[place]; }

  // The slot that find() most probably leads to, without access to the requests.
  std::uint32_t likely_slot(const Envelope& message) const {
    const std::uint32_t places = many_ ? 0 : places_of(message.fingerprint());
    return places == 0 ? kNone : slots_[std::countr_zero(places)];
  }

  // Calls `visit` with each slot, in posting order.
  template <typename Visit>
  void for_each_slot(const Visit& visit) const {
    for (const Posted& posted : more_) visit(posted.slot);
    for (std::uint32_t place = 0; place < end_; ++place) {
      if (marks_[place] != kGone) visit(slots_[place]);
    }
  }

  void remove(std::uint32_t place) {
    if (many_) {
      more_.erase(more_.begin() + place);
      many_ = !more_.empty();
      return;
    }
    marks_[place] = kGone;
    if (--waiting_ > 0) return;
    marks_.fill(kGone);
    end_ = 0;
    any_wild_ = false;
  }

 private:
  static constexpr std::uint32_t kInline = 32;
  static constexpr std::uint32_t kGreatestInline = 0xffff;
  static constexpr std::uint8_t kGone = 0;
  static constexpr std::uint8_t kWild = 2;
  static_assert(Envelope::kLeastFingerprint > kWild);

  struct Posted {
    std::uint32_t slot;
    std::uint8_t mark;
  };

  // A bit for each place with this mark (at least 2). Behind the first such place, bits of places whose mark differs in
  // its last bit may be set too, but never of a removed place. Bytes equal to `mark` become 0; subtracting 1 from each
  // byte sets the high bit of the first 0 byte; then the high bits are gathered.
  std::uint32_t places_of(std::uint8_t mark) const {
    static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");
    constexpr std::uint64_t kOnes = 0x0101010101010101u;
    std::uint32_t places = 0;
    for (std::uint32_t word = 0; word < kInline / 8; ++word) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, &marks_[8 * word], sizeof bytes);
      bytes ^= kOnes * mark;
      const std::uint64_t equal = ((bytes - kOnes) & ~bytes) >> 7 & kOnes;
      places |= static_cast<std::uint32_t>((equal * 0x0102040810204080u) >> 56) << (8 * word);
    }
    return places;
  }

  void close_gaps() {
    std::uint32_t kept = 0;
    for (std::uint32_t place = 0; place < end_; ++place) {
      if (marks_[place] == kGone) continue;
      marks_[kept] = marks_[place];
      slots_[kept++] = slots_[place];
    }
    std::fill(marks_.begin() + kept, marks_.end(), kGone);
    end_ = kept;
  }

  void move_out() {
    for (std::uint32_t place = 0; place < end_; ++place) {
      if (marks_[place] != kGone) more_.push_back({slots_[place], marks_[place]});
    }
    marks_.fill(kGone);
    end_ = 0;
    waiting_ = 0;
    any_wild_ = false;
    many_ = true;
  }

  bool many_{false};      // if true, all are in more_
  bool any_wild_{false};  // there was a wild receive since the list was last empty
  std::uint8_t end_{0};   // the first free place; all behind it are free
  std::uint8_t waiting_{0};
  std::array<std::uint8_t, kInline> marks_{};
  std::array<std::uint16_t, kInline> slots_{};
  std::vector<Posted> more_;
};

}  // namespace manynode::network
