#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(PingPong, TakesTwiceOneWayForEachRound) {
  auto application = make_application(
      "patterns",
      Parameters(
          {{"pattern", std::string("ping-pong")}, {"bytes", std::int64_t{800}}, {"iterations", std::int64_t{5}}}),
      4);
  const auto result = simulate({{std::move(application), std::nullopt}}, small_machine(), 0);
  EXPECT_EQ(result.makespan, 5 * 2 * eager_time(800, 4));
  EXPECT_EQ(result.messages(), 10u);
}

}  // namespace
}  // namespace manynode::network::testing
