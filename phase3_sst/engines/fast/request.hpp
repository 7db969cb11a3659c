// The sends and receives that a rank has started and not yet waited for, and which of the receives have met no message.
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
  std::uint64_t bytes{0};  // of a receive: its buffer, once matched its message
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

// Addressed by slots that do not move. A wait most often names the request after the one waited for last (waitall), the
// youngest (a blocking call) or the oldest: these are looked at first.
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

  // The slot of the request with this number, kNone when there is none.
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

  // The first requests, from memory.
  void fetch() const { fetch_lines_ahead(slots_.data(), 4); }

  Request& operator[](std::uint32_t slot) { return slots_[slot]; }
  const Request& operator[](std::uint32_t slot) const { return slots_[slot]; }

 private:
  // Below this many slots, holes are left until the table is empty, so that numbers and slots keep the same order.
  static constexpr std::uint32_t kReuse = 256;

  bool is(std::uint32_t slot, std::uint32_t id) const {
    return slot < slots_.size() && slots_[slot].in_use && slots_[slot].id == id;
  }

  std::vector<Request> slots_;
  std::uint32_t in_use_{0};
  std::uint32_t cursor_{0};
};

// The receives of a rank that no message has met, in the order of posting. Those of a usual halo exchange fit in here:
// a byte of fingerprint for each, which are looked through eight at a time, and beside the rank's own cache line.
class PostedReceives {
 public:
  std::uint32_t size() const { return many_ ? static_cast<std::uint32_t>(more_.size()) : waiting_; }

  void add(const Envelope& envelope, std::uint32_t slot) {
    // Of a receive that takes more than one envelope, the fingerprint is kWild.
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

  // The place of the first that takes `message`; kNone when there is none.
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

  // The slot that find() most probably leads to, without a look at the requests.
  std::uint32_t likely_slot(const Envelope& message) const {
    const std::uint32_t places = many_ ? 0 : places_of(message.fingerprint());
    return places == 0 ? kNone : slots_[std::countr_zero(places)];
  }

  // Calls `visit` with the slot of each, in the order of posting.
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

  // A bit for each place with this mark (at least 2), and perhaps, behind the first such place, for places whose mark
  // differs in its last bit, never for one that is gone. Bytes that are equal to `mark` become 0; subtracting 1 from
  // each byte sets the high bit of the first byte that is 0; then the high bits are gathered.
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

  bool many_{false};      // all are in more_ then
  bool any_wild_{false};  // has been one since the last time that none waited
  std::uint8_t end_{0};   // the first place that is free, as are all behind it
  std::uint8_t waiting_{0};
  std::array<std::uint8_t, kInline> marks_{};
  std::array<std::uint16_t, kInline> slots_{};
  std::vector<Posted> more_;
};

}  // namespace manynode::network
