// Durations in whole nanoseconds, as ember's compute events need them. Each rounding error is carried to the next
// duration: the sum stays within half a nanosecond of the exact sum.
#pragma once

#include <cstdint>

#include "sim_time.hpp"

namespace manynode::sst_element {

class WholeNanoseconds {
 public:
  // `time` is not negative; neither is the result.
  std::uint64_t of(network::Picoseconds time) {
    const network::Picoseconds wanted = time + left_over_;
    const network::Picoseconds nanoseconds = wanted < 0 ? 0 : (wanted + 500) / 1000;
    left_over_ = wanted - nanoseconds * 1000;
    return static_cast<std::uint64_t>(nanoseconds);
  }

 private:
  network::Picoseconds left_over_{0};  // from -500 to 499 ps
};

}  // namespace manynode::sst_element
