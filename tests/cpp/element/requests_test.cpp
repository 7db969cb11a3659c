#include "requests.hpp"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>

namespace manynode::sst_element {
namespace {

RequestHandle handle(std::uintptr_t number) { return reinterpret_cast<RequestHandle>(number * 16); }

TEST(Requests, ThatFollowEachOtherAreGivenInPlace) {
  Requests requests;
  for (std::uint32_t id = 0; id < 4; ++id) *requests.start(id) = handle(id + 1);
  const auto taken = requests.take(std::array{1u, 2u, 3u});
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0], handle(2));
  EXPECT_EQ(taken[2], handle(4));
}

TEST(Requests, InAnotherOrderAreCopied) {
  Requests requests;
  for (std::uint32_t id = 0; id < 3; ++id) *requests.start(id) = handle(id + 1);
  const auto taken = requests.take(std::array{2u, 0u});
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0], handle(3));
  EXPECT_EQ(taken[1], handle(1));
}

TEST(Requests, ToNobodyAreLeftOut) {
  Requests requests;
  requests.start_null(0);
  *requests.start(1) = handle(9);
  EXPECT_EQ(requests.take(std::array{0u, 1u}).size(), 1u);
}

TEST(Requests, AreWaitedForOnce) {
  Requests requests;
  *requests.start(0) = handle(1);
  EXPECT_EQ(requests.take(std::array{0u}).size(), 1u);
  EXPECT_THROW(requests.take(std::array{0u}), std::runtime_error);
  EXPECT_THROW(requests.take(std::array{7u}), std::runtime_error);
  EXPECT_TRUE(requests.take({}).empty());
}

}  // namespace
}  // namespace manynode::sst_element
