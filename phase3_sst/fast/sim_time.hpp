// Simulated time: whole picoseconds in 64 bits (107 days), because sums of integers do not depend on their order and so
// every build and machine gets the same bytes. Seconds appear only at the borders.
#pragma once

#include <cmath>
#include <cstdint>

namespace manynode::fast {

using Picoseconds = std::int64_t;

inline Picoseconds to_picoseconds(double seconds) { return std::llround(seconds * 1e12); }

// A division, not a product with 1e-12, so that 90000 ps print as 9e-08 and not as 9.000000000000001e-08.
inline double to_seconds(Picoseconds time) { return static_cast<double>(time) / 1e12; }

// The time that a number of bytes takes: on a link, in a NIC, in a processor.
class ByteTime {
 public:
  static ByteTime of_bandwidth(double bytes_per_second) { return ByteTime(1e12 / bytes_per_second); }
  static ByteTime per_byte(double seconds) { return ByteTime(seconds * 1e12); }

  Picoseconds of(std::uint64_t bytes) const { return std::llrint(static_cast<double>(bytes) * picoseconds_per_byte_); }

 private:
  explicit ByteTime(double picoseconds_per_byte) : picoseconds_per_byte_(picoseconds_per_byte) {}

  double picoseconds_per_byte_;
};

}  // namespace manynode::fast
