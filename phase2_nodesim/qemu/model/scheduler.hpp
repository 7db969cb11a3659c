// Operations that wait in the scheduler for something late: a line, or a chain of earlier operations. They take entries
// from dispatch until they start; dispatch waits while all entries are taken.
//
// How many start when is kept in a ring of spans of time. What starts beyond its end counts as starting there.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "block.hpp"
#include "stamp.hpp"

namespace manynode::node {

class Scheduler {
 public:
  // `cycle`: stamps of a cycle.
  Scheduler(std::uint32_t entries, Stamp cycle)
      : entries_(entries),
        short_wait_(kShortWait * cycle),
        shift_(static_cast<std::uint32_t>(std::bit_width(kCycles * cycle)) - 1) {}

  // Operations of the piece that is dispatched at `now` cannot start before `at`.
  void wait(Stamp at, Stamp now, const Dependents& dependents) {
    if (at <= now + short_wait_ || dependents.instructions == 0 || late_count_ == kLate) return;
    at += dependents.later;
    // The earliest first. Few are late at a time, and most come in their order.
    std::size_t place = late_count_++;
    for (; place != 0 && late_[place - 1].at > at; --place) late_[place] = late_[place - 1];
    late_[place] = {at, dependents.instructions};
  }
  bool has_late() const { return late_count_ != 0; }

  // The piece has been dispatched at `now`. Returns when dispatch can go on: 0 if there is room for half of what the
  // next piece adds, which is taken to be as much. A piece enters as a whole; its middle stands for it.
  Stamp dispatched(Stamp now) {
    const std::uint64_t span = now >> shift_;
    if (span > first_) forget(span);
    // Of an operation that waits for several things the latest counts.
    std::uint32_t counted = 0, added = 0;
    for (std::size_t late = late_count_; late != 0; --late) {
      const Late& next = late_[late - 1];
      if (const std::uint32_t further = next.instructions & ~counted; further != 0) added += add(next.at, further);
      counted |= next.instructions;
    }
    late_count_ = 0;
    return __builtin_expect(waiting_ + added / 2 > entries_, 0) ? room_for(added / 2) : 0;
  }

 private:
  // Cycles of a wait that is not counted, as for a hit. Counting those changes no long phase of five applications by
  // 1 %, and takes 6 % of the engine's speed.
  static constexpr Stamp kShortWait = 8;
  static constexpr Stamp kCycles = 4;  // of a span
  static constexpr std::uint64_t kSpans = 512;
  struct Span {
    Stamp latest = 0;
    std::uint32_t count = 0;
  };
  // Inputs and loads of a piece, and more: a load of several lines is there several times.
  static constexpr std::size_t kLate = 2 * (kRegisters + kMostInPiece);
  struct Late {
    Stamp at;
    std::uint32_t instructions;
  };

  Span& span(std::uint64_t number) { return spans_[number % kSpans]; }
  void forget(std::uint64_t to) {
    for (; first_ < to && waiting_ != 0; ++first_) leave();
    first_ = to;
  }
  std::uint32_t add(Stamp at, std::uint32_t instructions) {
    const auto count = static_cast<std::uint32_t>(std::popcount(instructions));
    const std::uint64_t number = std::min(at >> shift_, first_ + kSpans - 1);
    if (number < first_) return 0;
    Span& to = span(number);
    to.count += count;
    to.latest = std::max(to.latest, at);
    waiting_ += count;
    return count;
  }
  [[gnu::noinline]] Stamp room_for(std::uint32_t more) {
    Stamp at = 0;
    for (; waiting_ != 0 && waiting_ + more > entries_; ++first_) at = std::max(at, leave());
    return at;
  }
  Stamp leave() {
    Span& first = span(first_);
    const Stamp latest = first.latest;
    waiting_ -= first.count;
    first = {};
    return latest;
  }

  std::uint32_t entries_;
  Stamp short_wait_;
  std::uint32_t shift_;
  std::uint32_t waiting_ = 0;
  std::uint64_t first_ = 0;  // the span of the earliest that wait
  std::size_t late_count_ = 0;
  std::array<Late, kLate> late_;  // of the piece
  std::array<Span, kSpans> spans_{};
};

}  // namespace manynode::node
