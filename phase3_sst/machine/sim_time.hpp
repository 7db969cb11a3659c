// Simulated time: whole picoseconds in 64 bits. Sums of integers do not depend on their order: every build and machine
// gets the same bytes. Seconds appear only in input and output.
//
// Sums never wrap. The time of an event is at most kEndOfTime, which the event queue, the ranks' clocks and the arrival
// of messages check. A chunk's step on its way (a latency, a gap, its bytes on one link) is at most kLongestStep, which
// the run file and the length of messages respect. A dozen such steps beyond kEndOfTime still fit: sums in between need
// no checks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace manynode::network {

using Picoseconds = std::int64_t;

inline constexpr double kEndOfTime_s = 8e6;    // 92 days
inline constexpr double kLongestStep_s = 1e5;  // 27 hours
// The bandwidths at which a byte takes kLongestStep, and a gigabyte a picosecond.
inline constexpr double kLeastBandwidth_Bps = 1e-5;
inline constexpr double kMostBandwidth_Bps = 1e21;

inline constexpr Picoseconds kEndOfTime = 8'000'000'000'000'000'000;
inline constexpr Picoseconds kLongestStep = 100'000'000'000'000'000;
inline constexpr Picoseconds kBeyondTime = kEndOfTime + 1;

// Sum of the times of many links, which may exceed the range of one time.
__extension__ using TimeSum = __int128;

// Simulated time has reached kEndOfTime. The caller of the simulation reports when, where and why (end_of_time.cpp).
class EndOfTime : public std::runtime_error {
 public:
  EndOfTime()
      : std::runtime_error(
            "the simulated time has passed 8e+06 s (92 days): correct the key of the network or of the timing profile "
            "with the wrong unit") {}
};

[[noreturn, gnu::cold, gnu::noinline]] inline void end_of_time() { throw EndOfTime(); }

// A value that is not a time of a run (longer, or not a number) becomes kBeyondTime.
inline Picoseconds to_picoseconds(double seconds) {
  return seconds <= kEndOfTime_s ? std::llround(seconds * 1e12) : kBeyondTime;
}

// `time` and the result are at most kEndOfTime; throws EndOfTime.
inline Picoseconds later(Picoseconds time, Picoseconds duration) {
  if (duration > kEndOfTime - time) [[unlikely]]
    end_of_time();
  return time + duration;
}

// A division, not a product with 1e-12: 90000 ps print as 9e-08 and not as 9.000000000000001e-08.
inline double to_seconds(Picoseconds time) { return static_cast<double>(time) / 1e12; }
inline double sum_to_seconds(TimeSum time) { return static_cast<double>(time) / 1e12; }

// The time that a number of bytes takes: on a link, in a NIC, in a processor.
class ByteTime {
 public:
  static ByteTime of_bandwidth(double bytes_per_second) { return ByteTime(1e12 / bytes_per_second); }
  static ByteTime per_byte(double seconds) { return ByteTime(seconds * 1e12); }

  // Time of bytes that take at most kLongestStep, see most_bytes().
  Picoseconds of(std::uint64_t bytes) const { return std::llrint(picoseconds(bytes)); }

  // Time of any number of bytes: kBeyondTime if they take longer.
  Picoseconds of_any(std::uint64_t bytes) const {
    const double time = picoseconds(bytes);
    return time <= static_cast<double>(kEndOfTime) ? std::llrint(time) : kBeyondTime;
  }

  // Without the bounds of a time, and not rounded.
  double picoseconds(std::uint64_t bytes) const { return static_cast<double>(bytes) * picoseconds_per_byte_; }

  // That take at most kLongestStep.
  std::uint64_t most_bytes() const {
    constexpr double kMost = 0x1p62;
    const double most = static_cast<double>(kLongestStep) / picoseconds_per_byte_;
    return most < kMost ? static_cast<std::uint64_t>(most) : static_cast<std::uint64_t>(kMost);
  }

 private:
  explicit ByteTime(double picoseconds_per_byte) : picoseconds_per_byte_(picoseconds_per_byte) {}

  double picoseconds_per_byte_;
};

}  // namespace manynode::network
