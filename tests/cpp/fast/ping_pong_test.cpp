#include <gtest/gtest.h>

#include "manynode/error_report.hpp"
#include "small_machine.hpp"

namespace manynode::fast::testing {
namespace {

TEST(PingPong, TakesTwiceOneWayForEachRound) {
  const auto application =
      make_application("ping-pong", Parameters({{"bytes", std::int64_t{800}}, {"rounds", std::int64_t{5}}}), 4);
  const auto result = simulate(*application, small_machine(), nullptr, 0);
  EXPECT_EQ(result.makespan, 5 * 2 * eager_time(800, 4));
  EXPECT_EQ(result.messages, 10u);
}

TEST(PingPong, NeedsTwoRanks) { EXPECT_THROW(make_application("ping-pong", Parameters(), 1), UserError); }

}  // namespace
}  // namespace manynode::fast::testing
