// An array of objects that do not move: what it destroys.
#include "fixed_array.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace manynode::network {
namespace {

struct Counted {
  Counted(int& alive, bool fails) : alive_(alive) {
    if (fails) throw std::runtime_error("refused");
    ++alive_;
  }
  Counted(const Counted&) = delete;
  ~Counted() { --alive_; }
  int& alive_;
};

TEST(FixedArray, DestroysWhatItHolds) {
  int alive = 0;
  {
    FixedArray<Counted> array(3);
    array.emplace_back(alive, false);
    array.emplace_back(alive, false);
    EXPECT_EQ(array.size(), 2U);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(FixedArray, LeavesAnObjectAloneWhoseConstructorThrew) {
  int alive = 0;
  {
    FixedArray<Counted> array(2);
    array.emplace_back(alive, false);
    EXPECT_THROW(array.emplace_back(alive, true), std::runtime_error);
    EXPECT_EQ(array.size(), 1U);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace manynode::network
