#include "topologies/divisor.hpp"

#include <gtest/gtest.h>

namespace manynode::network {
namespace {

TEST(Divisor, DividesLikeTheProcessor) {
  constexpr std::uint32_t kMost = 0x7fffffff;
  for (const std::uint32_t divisor :
       {1u, 2u, 3u, 7u, 24u, 432u, 641u, 65'535u, 65'536u, 0x55555555u, kMost - 1, kMost}) {
    const Divisor by(divisor);
    EXPECT_EQ(by.value(), divisor);
    const auto check = [&](std::uint32_t number) {
      ASSERT_EQ(by.quotient(number), number / divisor) << number << " by " << divisor;
      ASSERT_EQ(by.remainder(number), number % divisor) << number << " by " << divisor;
    };
    // Around multiples, where a reciprocal that is a little off shows.
    for (std::uint64_t multiple = divisor; multiple <= kMost; multiple += divisor * (1 + kMost / divisor / 1000)) {
      check(static_cast<std::uint32_t>(multiple) - 1);
      check(static_cast<std::uint32_t>(multiple));
    }
    check(0);
    check(kMost - 1);
    check(kMost);
  }
}

}  // namespace
}  // namespace manynode::network
