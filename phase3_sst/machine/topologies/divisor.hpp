// Fast division by a constant number, without the processor's division, because every message computes a route.
#pragma once

#include <cstdint>

namespace manynode::network {

// Divides numbers below 2^31 by a number from 1 to 2^31. The reciprocal is rounded up and so off by less than d / 2^63
// relative to 2^63 / d; times n < 2^31 the error stays below 1 / d, and the integer part is exact (Granlund and
// Montgomery, "Division by invariant integers using multiplication", 1994, theorem 4.2).
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::uint32_t divisor)
      : divisor_(divisor), reciprocal_(((std::uint64_t{1} << 63) - 1 + divisor) / divisor) {}

  std::uint32_t value() const { return divisor_; }
  std::uint32_t quotient(std::uint32_t number) const {
    return static_cast<std::uint32_t>((static_cast<Wide>(reciprocal_) * number) >> 63);
  }
  std::uint32_t remainder(std::uint32_t number) const { return number - quotient(number) * divisor_; }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint32_t divisor_{1};
  std::uint64_t reciprocal_{std::uint64_t{1} << 63};
};

}  // namespace manynode::network
