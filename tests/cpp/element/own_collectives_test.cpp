// SST's own collectives: groups for communicators, roots and counts in ember's order, expansion of what ember lacks.
#include <gtest/gtest.h>

#include "played_rank.hpp"

namespace manynode::sst_element::testing {
namespace {

using Rounds = std::vector<std::vector<std::string>>;

network::RunConfig eight_ranks(network::RankOrder order) {
  network::RunConfig config = ranks_on(4);
  config.jobs[0].ranks_per_node = 2;
  config.jobs[0].rank_order = order;
  return config;
}

TEST(OwnCollectives, AreOneEventEachAndCountNoMessages) {
  const auto program = network::testing::loaded([](Mpi& mpi) {
    mpi.barrier();
    mpi.bcast(100, 3);
    mpi.allreduce(0);  // moves nothing
    mpi.alltoall(8);
  });
  const auto world = world_of(eight_ranks(network::RankOrder::Block), program, true);
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"MPI_Barrier 0 0 0"}, {"MPI_Bcast 0 3 100"}, {"MPI_Alltoall 0 0 8"}}));
  EXPECT_EQ(rank.program.messages(), 0u);
  EXPECT_EQ(rank.use(CallKind::Allreduce).calls, 1u);
}

TEST(OwnCollectives, AreNoneOfTheNonblockingOnes) {
  const auto program = network::testing::loaded([](Mpi& mpi) {
    const Request request = mpi.ibcast(100, 0);
    mpi.bcast(200, 0);
    mpi.wait(request);
  });
  const auto world = world_of(ranks_on(2), program, true);
  PlayedRank rank(*world, 0);
  rank.play();
  ASSERT_EQ(rank.rounds.size(), 2u);
  EXPECT_TRUE(rank.rounds[0].at(0).starts_with("send 1 ")) << "the first broadcast moves as messages";
  EXPECT_EQ(rank.rounds[1], std::vector<std::string>{"MPI_Bcast 0 0 200"});
  EXPECT_EQ(rank.use(CallKind::Bcast).calls, 2u);
  EXPECT_EQ(rank.use(CallKind::Bcast).time, 2 * kMicrosecond);
}

TEST(OwnCollectives, MakeAGroupForEachCommunicatorBeforeTheStepThatUsesIt) {
  const auto program = network::testing::loaded([](Mpi& mpi) {
    const std::array dims = {2, 4};
    const Communicator grid = mpi.cart(kWorld, dims);  // the world once more
    const Communicator row = mpi.cart_sub(grid, {false, true});
    mpi.allreduce(8, grid);
    mpi.bcast(16, 1, row);
  });
  const auto world = world_of(eight_ranks(network::RankOrder::Block), program, true);
  PlayedRank rank(*world, 6);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"group 4 5 6 7"}, {"MPI_Allreduce 0 0 8"}, {"MPI_Bcast 1 1 16"}}));
  EXPECT_EQ(rank.use(CallKind::Allreduce).time, kMicrosecond) << "making the group is not part of it";
}

TEST(OwnCollectives, TranslateRanksOfTheWorldAndListGroupsInTheirOwnOrder) {
  const auto program = network::testing::loaded([](Mpi& mpi) {
    const Communicator first_four = mpi.split(kWorld, [](int rank) { return std::pair(rank / 4, -rank); });
    mpi.bcast(8, 5);
    mpi.bcast(8, 1, first_four);
  });
  const auto world = world_of(eight_ranks(network::RankOrder::Cyclic), program, true);
  PlayedRank rank(*world, 0);
  rank.play();
  // Ranks 0 to 3 are the first on nodes 0 to 3; rank 5 is the second on node 1.
  EXPECT_EQ(rank.rounds, (Rounds{{"group 6 4 2 0"}, {"MPI_Bcast 0 3 8"}, {"MPI_Bcast 1 1 8"}}));
}

TEST(OwnCollectives, PutTheCountsOfAnAlltoallvInEmbersOrder) {
  const auto program = network::testing::loaded([](Mpi& mpi) {
    std::vector<std::uint64_t> sent = {10, 11, 12, 13, 14, 15, 16, 17};
    std::vector<std::uint64_t> received = {20, 21, 22, 23, 24, 25, 26, 27};
    mpi.alltoallv(sent, received);
  });
  const auto world = world_of(eight_ranks(network::RankOrder::Cyclic), program, true);
  PlayedRank rank(*world, 0);
  rank.play();
  // Its second rank on node 0 is rank 4, its first on node 1 rank 1.
  EXPECT_EQ(rank.rounds, (Rounds{{"MPI_Alltoallv 0 10 14 21"}}));
}

TEST(OwnCollectives, ExpandWhatEmberLacks) {
  const auto program = network::testing::loaded([](Mpi& mpi) { mpi.gather(8, 0); });
  const auto world = world_of(ranks_on(2), program, true);
  PlayedRank rank(*world, 1);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"send 0 00000000 8"}}));
}

}  // namespace
}  // namespace manynode::sst_element::testing
