// A path that takes one line every so many cycles, and is also kept by others for a time, for requests that do not come
// in the order of their times.
//
// A "free from" time would make a request pay for others that come later in time. Time is cut into buckets instead,
// each with room for as many lines as the rate allows; a line goes into the first bucket with room (as in Uncore, for
// memory).
#pragma once

#include <array>
#include <cstdint>

#include "stamp.hpp"

namespace manynode::node {

class RateLimit {
 public:
  // `interval`: stamps from one line to the next; 0: no limit. `cycle`: stamps of a cycle.
  RateLimit(Stamp interval, Stamp cycle) : interval_(interval), length_(kCycles * cycle) {}

  // Takes the place of a line that comes at `at`; returns how long it waits, in whole ticks.
  Stamp take(Stamp at) { return keep(at, interval_); }
  // The same for what keeps the path for `time`.
  Stamp keep(Stamp at, Stamp time) {
    if (time == 0) return 0;
    const std::uint64_t first = at / length_;
    for (std::uint64_t number = first;; ++number) {
      Bucket& bucket = ring_[number % kBuckets];
      if (bucket.number != number) {
        if (bucket.number > number || number - first >= kBuckets) return 0;  // what happened here is no longer known
        // What a bucket has too much of a line, the next one has too little.
        const Bucket& before = ring_[(number - 1) % kBuckets];
        const Stamp over = before.number + 1 == number && before.used > length_ ? before.used - length_ : 0;
        bucket = {number, over};
      }
      if (bucket.used >= length_) continue;
      bucket.used += time;
      return number == first ? 0 : time_of(number * length_ - at + kTick - 1);
    }
  }

 private:
  static constexpr Stamp kCycles = 32;
  static constexpr std::uint64_t kBuckets = 256;
  struct Bucket {
    std::uint64_t number = 0;
    Stamp used = 0;
  };

  Stamp interval_, length_;
  std::array<Bucket, kBuckets> ring_{};
};

}  // namespace manynode::node
