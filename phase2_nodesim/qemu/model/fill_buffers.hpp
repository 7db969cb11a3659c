// The buffers that hold misses in flight: until when each is in use. They are all alike, so that only their times
// count; these are kept in order, in a ring. A new time is nearly always the latest, or among the latest.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stamp.hpp"

namespace manynode::node {

class FillBuffers {
 public:
  explicit FillBuffers(std::uint32_t count) : times_(std::bit_ceil(std::size_t{count} + 1)), count_(count) {}

  // When the first buffer is free.
  Stamp free_at() const { return times_[first_ & (times_.size() - 1)]; }
  // Takes the buffer that is free first, until `until`.
  void take(Stamp until) {
    const std::size_t mask = times_.size() - 1;
    std::size_t place = ++first_ + count_ - 1;
    for (; place != first_ && times_[(place - 1) & mask] > until; --place) {
      times_[place & mask] = times_[(place - 1) & mask];
    }
    times_[place & mask] = until;
  }

 private:
  std::vector<Stamp> times_;
  std::size_t count_, first_ = 0;
};

}  // namespace manynode::node
