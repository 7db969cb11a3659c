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
      : entries_(entries), shift_(static_cast<std::uint32_t>(std::bit_width(kCycles * cycle)) - 1) {}

  // Operations of the piece cannot start before `at`. Of one that waits for several things the latest counts.
  void wait(Stamp at, const Dependents& dependents) {
    if (dependents.instructions == 0) return;
    at += time_of(dependents.later);
    // Of several lines of one load as well.
    if (late_count_ != 0 && late_[late_count_ - 1].instructions == dependents.instructions) {
      late_[late_count_ - 1].at = std::max(late_[late_count_ - 1].at, at);
    } else {
      late_[late_count_++] = {at, dependents.instructions};
    }
  }
  bool has_late() const { return late_count_ != 0; }

  // The piece has been dispatched at `now`. Returns when dispatch can go on: 0 if there is room for half of what the
  // next piece adds, which is taken to be as much. A piece enters as a whole; its middle stands for it.
  Stamp dispatched(Stamp now) {
    forget(now);
    std::sort(late_.begin(), late_.begin() + late_count_, [](const Late& a, const Late& b) { return a.at > b.at; });
    std::uint32_t counted = 0, added = 0;
    for (std::uint32_t i = 0; i < late_count_; ++i) {
      const auto count = static_cast<std::uint32_t>(std::popcount(late_[i].instructions & ~counted));
      counted |= late_[i].instructions;
      added += add(late_[i].at, count);
    }
    late_count_ = 0;
    Stamp at = 0;
    for (; waiting_ != 0 && waiting_ + added / 2 > entries_; ++first_) at = std::max(at, leave());
    return at;
  }

 private:
  static constexpr Stamp kCycles = 2;
  static constexpr std::uint64_t kSpans = 1024;
  struct Span {
    std::uint32_t count = 0;
    Stamp latest = 0;
  };
  struct Late {
    Stamp at;
    std::uint32_t instructions;
  };

  Span& span(std::uint64_t number) { return spans_[number % kSpans]; }
  void forget(Stamp now) {
    const std::uint64_t to = now >> shift_;
    for (; first_ < to && waiting_ != 0; ++first_) leave();
    first_ = std::max(first_, to);
  }
  std::uint32_t add(Stamp at, std::uint32_t count) {
    const std::uint64_t number = std::min(at >> shift_, first_ + kSpans - 1);
    if (number < first_) return 0;
    Span& to = span(number);
    to.count += count;
    to.latest = std::max(to.latest, at);
    waiting_ += count;
    return count;
  }
  Stamp leave() {
    Span& first = span(first_);
    const Stamp latest = first.latest;
    waiting_ -= first.count;
    first = {};
    return latest;
  }

  std::uint32_t entries_, shift_;
  std::uint32_t waiting_ = 0, late_count_ = 0;
  std::uint64_t first_ = 0;  // the span of the earliest that wait
  std::array<Span, kSpans> spans_{};
  std::array<Late, kRegisters + kMostInPiece> late_{};  // of the piece: its inputs and loads
};

}  // namespace manynode::node
