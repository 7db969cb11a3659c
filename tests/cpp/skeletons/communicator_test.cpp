// Groups of ranks: progressions, splits and their translation to the world.
#include "manynode/communicator.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "manynode/call.hpp"

namespace manynode {
namespace {

TEST(Communicators, TheWorldIsThereFromTheStart) {
  const Communicators communicators(3, 8);
  EXPECT_EQ(communicators.rank(kWorld), 3);
  EXPECT_EQ(communicators.size(kWorld), 8);
  EXPECT_EQ(communicators.world_rank(kWorld, 5), 5);
}

TEST(Communicators, SpecialPeersStayWhatTheyAre) {
  const Communicators communicators(0, 2);
  EXPECT_EQ(communicators.world_rank(kWorld, kProcNull), kProcNull);
  EXPECT_EQ(communicators.world_rank(kWorld, kAnySource), kAnySource);
}

TEST(Communicators, AColumnOfAGridIsAProgression) {
  Communicators communicators(7, 12);  // 3 rows of 4: rank 7 is the last of the second row
  const Communicator column = communicators.strided(3, 4, 3);
  EXPECT_EQ(communicators.rank(column), 1);
  EXPECT_EQ(communicators.size(column), 3);
  EXPECT_EQ(communicators.world_rank(column, 2), 11);
  const Communicator downwards = communicators.strided(11, -4, 3);
  EXPECT_EQ(communicators.rank(downwards), 1);
  EXPECT_EQ(communicators.world_rank(downwards, 0), 11);
}

TEST(Communicators, AGroupWithoutThisRankIsRefused) {
  Communicators communicators(6, 12);
  EXPECT_THROW(communicators.strided(3, 4, 3), std::logic_error);
  EXPECT_THROW(communicators.strided(0, 6, 3), std::logic_error);
  EXPECT_THROW(communicators.strided(6, 1, 0), std::logic_error);
  EXPECT_THROW(communicators.strided(6, 0, 2), std::logic_error);
  EXPECT_THROW(Communicators(2, 2), std::logic_error);
  EXPECT_THROW(communicators.world_rank(kWorld, 12), std::logic_error);
}

TEST(Communicators, ASplitOrdersByKeyThenByRank) {
  const auto colour_and_key = [](int rank) { return std::pair{rank % 2, -(rank / 4)}; };
  Communicators communicators(5, 8);
  const Communicator odd = communicators.split(kWorld, colour_and_key);
  EXPECT_EQ(communicators.size(odd), 4);
  // Keys: 1 and 3 have 0, 5 and 7 have -1.
  EXPECT_EQ(communicators.world_rank(odd, 0), 5);
  EXPECT_EQ(communicators.world_rank(odd, 1), 7);
  EXPECT_EQ(communicators.world_rank(odd, 2), 1);
  EXPECT_EQ(communicators.world_rank(odd, 3), 3);
  EXPECT_EQ(communicators.rank(odd), 0);
}

TEST(Communicators, ASplitOfASplitSpeaksOfTheWorld) {
  Communicators communicators(6, 12);
  const Communicator even = communicators.split(kWorld, [](int rank) { return std::pair{rank % 2, rank}; });
  const Communicator upper = communicators.split(even, [](int rank) { return std::pair{rank / 3, rank}; });
  EXPECT_EQ(communicators.size(upper), 3);
  EXPECT_EQ(communicators.rank(upper), 0);
  EXPECT_EQ(communicators.world_rank(upper, 2), 10);
}

TEST(Communicators, ARankMustBeInTheCommunicatorItMakes) {
  Communicators communicators(1, 2);
  EXPECT_THROW(communicators.split(kWorld, [](int rank) { return std::pair{-rank, 0}; }), std::logic_error);
}

}  // namespace
}  // namespace manynode
