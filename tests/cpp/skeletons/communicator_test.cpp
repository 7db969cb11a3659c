// Groups of ranks: progressions, splits and their translation to the world.
#include "manynode/communicator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "manynode/primitive.hpp"

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

TEST(Communicators, AGridCountsItsLastDimensionFastest) {
  Communicators communicators(17, 24);
  const Communicator grid = communicators.cart(kWorld, std::array{2, 3, 4});
  EXPECT_EQ(communicators.coordinates(grid, 17), (std::vector{1, 1, 1}));
  EXPECT_EQ(communicators.cart_rank(grid, std::array{1, 1, 1}), 17);
  EXPECT_EQ(communicators.world_rank(grid, 17), 17);
}

TEST(Communicators, ASubGridKeepsTheOtherCoordinatesOfItsRank) {
  Communicators communicators(17, 24);  // at (1, 1, 1) of a grid of 2 x 3 x 4
  const Communicator grid = communicators.cart(kWorld, std::array{2, 3, 4});
  const Communicator line = communicators.cart_sub(grid, {false, true, false});
  EXPECT_EQ(communicators.size(line), 3);
  EXPECT_EQ(communicators.rank(line), 1);
  EXPECT_EQ(communicators.world_rank(line, 2), 21);
  const Communicator plane = communicators.cart_sub(grid, {true, false, true});
  EXPECT_EQ(communicators.size(plane), 8);
  EXPECT_EQ(communicators.rank(plane), 5);
  EXPECT_EQ(communicators.world_rank(plane, 2), 6);   // (0, 1, 2)
  EXPECT_EQ(communicators.world_rank(plane, 4), 16);  // (1, 1, 0)
  EXPECT_EQ(communicators.coordinates(plane, 5), (std::vector{1, 1}));
  const Communicator last = communicators.cart_sub(plane, {false, true});
  EXPECT_EQ(communicators.world_rank(last, 3), 19);
  EXPECT_EQ(communicators.size(communicators.cart_sub(grid, {false, false, false})), 1);
}

TEST(Communicators, AGridOfAListFollowsTheList) {
  Communicators communicators(4, 6);
  const Communicator list = communicators.split(kWorld, [](int rank) { return std::pair{0, rank * rank % 7}; });
  const Communicator grid = communicators.cart(list, std::array{3, 2});
  const Communicator column = communicators.cart_sub(grid, {true, false});
  for (int row = 0; row < 3; ++row) {
    const int place =
        communicators.cart_rank(grid, std::array{row, communicators.coordinates(grid, communicators.rank(list))[1]});
    EXPECT_EQ(communicators.world_rank(column, row), communicators.world_rank(list, place));
  }
}

TEST(Communicators, AGridThatDoesNotFitIsRefused) {
  Communicators communicators(0, 12);
  EXPECT_THROW(communicators.cart(kWorld, std::array{3, 3}), std::logic_error);
  EXPECT_THROW(communicators.cart(kWorld, std::array{-3, -4}), std::logic_error);
  EXPECT_THROW(communicators.cart_sub(kWorld, {true}), std::logic_error);
  const Communicator grid = communicators.cart(kWorld, std::array{3, 4});
  EXPECT_THROW(communicators.cart_sub(grid, {true}), std::logic_error);
  EXPECT_THROW(communicators.cart_rank(grid, std::array{0, 4}), std::logic_error);
}

TEST(Communicators, BalancedDimensionsMultiplyToTheSize) {
  EXPECT_EQ(balanced_dims(12, 2), (std::vector{4, 3}));
  EXPECT_EQ(balanced_dims(64, 3), (std::vector{4, 4, 4}));
  EXPECT_EQ(balanced_dims(1024, 4), (std::vector{8, 8, 4, 4}));
  EXPECT_EQ(balanced_dims(7, 3), (std::vector{7, 1, 1}));
  EXPECT_EQ(balanced_dims(1, 2), (std::vector{1, 1}));
  EXPECT_EQ(balanced_dims(26, 2), (std::vector{13, 2}));
}

TEST(Communicators, APartitionMakesTheGroupsOfASplit) {
  const auto colour_and_key = [](int rank) { return std::pair{rank % 3, rank * 5 % 13}; };
  const Partition partition(13, colour_and_key);
  for (int rank = 0; rank < 13; ++rank) {
    Communicators communicators(rank, 13);
    const Communicator shared = communicators.split(partition);
    const Communicator own = communicators.split(kWorld, colour_and_key);
    ASSERT_EQ(communicators.size(shared), communicators.size(own));
    EXPECT_EQ(communicators.rank(shared), communicators.rank(own));
    for (int member = 0; member < communicators.size(own); ++member) {
      EXPECT_EQ(communicators.world_rank(shared, member), communicators.world_rank(own, member));
    }
  }
  Communicators outside(1, 2);
  EXPECT_THROW(outside.split(Partition(2, [](int rank) { return std::pair{-rank, 0}; })), std::logic_error);
}

TEST(Communicators, ARankOfAMillionTakesLittleMemory) {
  EXPECT_LE(sizeof(Communicators), 32U);
  EXPECT_LE(sizeof(Lowering), 40U);
}

TEST(Communicators, AGroupHasTheOrderOfItsMembers) {
  Communicators communicators(5, 9);
  for (const std::vector<int>& members :
       {std::vector{7, 5, 3}, std::vector{5}, std::vector{0, 5, 2, 8}, std::vector{4, 5, 6, 7}}) {
    const Communicator group = communicators.group(members);
    ASSERT_EQ(communicators.size(group), static_cast<int>(members.size()));
    for (int rank = 0; rank < communicators.size(group); ++rank) {
      EXPECT_EQ(communicators.world_rank(group, rank), members[static_cast<std::size_t>(rank)]);
    }
    EXPECT_EQ(communicators.world_rank(group, communicators.rank(group)), 5);
  }
  EXPECT_THROW(communicators.group(std::array{1, 2}), std::logic_error);
  EXPECT_THROW(communicators.group(std::array{5, 9}), std::logic_error);
  EXPECT_THROW(communicators.group(std::array{5, 2, 5}), std::logic_error);
}

TEST(Communicators, ARankMustBeInTheCommunicatorItMakes) {
  Communicators communicators(1, 2);
  EXPECT_THROW(communicators.split(kWorld, [](int rank) { return std::pair{-rank, 0}; }), std::logic_error);
}

}  // namespace
}  // namespace manynode
