#include "whole_nanoseconds.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace manynode::sst_element {
namespace {

TEST(WholeNanoseconds, KeepTheSumToHalfANanosecond) {
  WholeNanoseconds whole;
  network::Picoseconds asked = 0;
  network::Picoseconds given = 0;
  for (network::Picoseconds time = 0; time < 5000; time += 7) {
    asked += time;
    given += static_cast<network::Picoseconds>(whole.of(time)) * 1000;
    ASSERT_LE(std::abs(asked - given), 500);
  }
}

TEST(WholeNanoseconds, CollectWhatIsShorterThanOne) {
  WholeNanoseconds whole;
  std::uint64_t given = 0;
  for (int i = 0; i < 1000; ++i) given += whole.of(1);
  EXPECT_EQ(given, 1u);
}

}  // namespace
}  // namespace manynode::sst_element
