// The sends and receives that a rank has started and not yet waited for, and which of the receives have met no message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "envelope.hpp"
#include "fetch_ahead.hpp"
#include "pool.hpp"
#include "sim_time.hpp"

namespace manynode::fast {

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
  void fetch() const {
    const char* line = reinterpret_cast<const char*>(slots_.data());
    for (std::size_t i = 0; i < 4; ++i) fetch_ahead(line + 64 * i);
  }

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

// The receives of a rank that no message has met, in the order of posting: fingerprint and slot of each in one word, so
// that looking through those of a usual halo exchange costs two cache lines, which lie beside the rank's own.
class PostedReceives {
 public:
  static constexpr unsigned kSlotBits = 20;

  std::uint32_t size() const { return size_; }
  std::uint32_t slot(std::uint32_t place) const { return data()[place] & kSlotMask; }

  void add(const Envelope& envelope, std::uint32_t slot) {
    if (slot > kSlotMask) throw std::length_error("a rank has more than a million requests at once");
    // Of a receive that takes more than one envelope, the fingerprint is 0.
    const std::uint32_t word = slot | (envelope.wild() ? 0 : envelope.fingerprint() << kSlotBits);
    if (size_ < kInline && !many_) {
      few_[size_++] = word;
      return;
    }
    if (!many_) more_.assign(few_.begin(), few_.begin() + size_);
    many_ = true;
    more_.push_back(word);
    ++size_;
  }

  // The place of the first that takes `message`; kNone when there is none.
  std::uint32_t find(const Envelope& message, const RequestTable& requests) const {
    const std::uint32_t wanted = message.fingerprint();
    const std::uint32_t* words = data();
    for (std::uint32_t place = 0; place < size_; ++place) {
      const std::uint32_t fingerprint = words[place] >> kSlotBits;
      if (fingerprint != wanted && fingerprint != 0) continue;
      if (requests[words[place] & kSlotMask].envelope().takes(message)) return place;
    }
    return kNone;
  }

  // The slot that find() most probably leads to, without a look at the requests.
  std::uint32_t likely_slot(const Envelope& message) const {
    const std::uint32_t wanted = message.fingerprint();
    const std::uint32_t* words = data();
    for (std::uint32_t place = 0; place < size_; ++place) {
      if (words[place] >> kSlotBits == wanted) return words[place] & kSlotMask;
    }
    return kNone;
  }

  void remove(std::uint32_t place) {
    --size_;
    if (!many_) {
      for (std::uint32_t i = place; i < size_; ++i) few_[i] = few_[i + 1];
      return;
    }
    more_.erase(more_.begin() + place);
    many_ = size_ > 0;
  }

 private:
  static constexpr std::uint32_t kInline = 30;
  static constexpr std::uint32_t kSlotMask = (1u << kSlotBits) - 1;

  const std::uint32_t* data() const { return many_ ? more_.data() : few_.data(); }

  std::uint32_t size_{0};
  bool many_{false};
  std::array<std::uint32_t, kInline> few_{};
  std::vector<std::uint32_t> more_;  // all of them, when they are `many_` (known without a look at this cache line)
};

}  // namespace manynode::fast
