// Which events a rank asks for, call by call, and what its accounts say.
#include <gtest/gtest.h>

#include "manynode/error_report.hpp"
#include "played_rank.hpp"

namespace manynode::sst_element::testing {
namespace {

using Rounds = std::vector<std::vector<std::string>>;

TEST(RankProgram, AsksForOneCallAtATimeAndTimesIt) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) {
                                mpi.send(1, 100, 7);
                                mpi.recv(2, 200, 8);
                                mpi.recv(kAnySource, 300, 9);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"send 1 80000007 100"}, {"recv 2 80000008 200"}, {"recv -1 80000009 300"}}));
  EXPECT_EQ(rank.use(CallKind::Send).time, kMicrosecond);
  EXPECT_EQ(rank.use(CallKind::Send).bytes, 100u);
  EXPECT_EQ(rank.use(CallKind::Recv).time, 2 * kMicrosecond);
  EXPECT_EQ(rank.use(CallKind::Recv).calls, 2u);
  EXPECT_EQ(rank.use(CallKind::Recv).bytes, 0u);
  EXPECT_TRUE(rank.program.finished());
  EXPECT_EQ(rank.program.clock(), 3 * kMicrosecond);
  EXPECT_EQ(rank.program.messages(), 1u);
}

TEST(RankProgram, WaitsForAllRequestsInOneEvent) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) {
                                const std::array requests = {mpi.irecv(1, 8), mpi.irecv(2, 8), mpi.isend(1, 8)};
                                mpi.waitall(requests);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds.back(), (std::vector<std::string>{"waitall 3"}));
  EXPECT_EQ(rank.sink.waited, rank.sink.started);
}

network::RunConfig two_on_each_of(std::uint32_t nodes) {
  network::RunConfig config = ranks_on(nodes);
  config.jobs[0].ranks_per_node = 2;
  return config;
}

TEST(RankProgram, PaysForShortMessagesOfItsNodeAndWaitsForThemFirst) {
  const auto world = world_of(two_on_each_of(2), network::testing::loaded([](Mpi& mpi) {
                                const std::array requests = {mpi.irecv(2, 8), mpi.irecv(1, 8), mpi.irecv(1, 1 << 20)};
                                mpi.waitall(requests);
                                mpi.recv(1, 8);
                                mpi.recv(3, 8);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  // 200 ns; firefly charges messages of other nodes, and long ones, which are copied in the rank's own time.
  EXPECT_EQ(rank.rounds[3], (std::vector<std::string>{"wait", "delay 200", "waitall 2"}));
  const auto& started = rank.sink.started;
  EXPECT_EQ(rank.sink.waited, (std::vector<RequestHandle>{started[1], started[0], started[2]}));
  EXPECT_EQ(rank.rounds[4], (std::vector<std::string>{"recv 1 80000000 8", "delay 200"}));
  EXPECT_EQ(rank.rounds[5], (std::vector<std::string>{"recv 3 80000000 8"}));
}

TEST(RankProgram, DoesNotWaitForShortMessagesToItsNode) {
  const auto world = world_of(two_on_each_of(2), network::testing::loaded([](Mpi& mpi) {
                                mpi.send(1, 8);
                                const std::array requests = {mpi.isend(1, 8), mpi.isend(2, 8), mpi.isend(1, 1 << 20)};
                                mpi.waitall(requests);
                              }));
  PlayedRank rank(*world, 0);
  rank.sink.copies_are_done = false;
  rank.round();
  EXPECT_EQ(rank.rounds.back(), (std::vector<std::string>{"isend 1 80000000 8", "test"}));
  rank.round();
  rank.round();
  rank.round();
  rank.sink.copies_are_done = true;
  rank.round();
  EXPECT_EQ(rank.rounds.back(), (std::vector<std::string>{"test", "test", "waitall 2"}));
  const auto& started = rank.sink.started;
  EXPECT_EQ(rank.sink.waited, (std::vector<RequestHandle>{started[2], started[3]}));
  EXPECT_EQ(rank.sink.tested, (std::vector<RequestHandle>{started[0], started[0], started[1]}))
      << "until it is complete, and each once in a round";
}

TEST(RankProgram, PaysForShortMessagesOfItsNodeInCollectives) {
  network::RunConfig config = two_on_each_of(2);
  config.collectives.alltoall = "scattered";
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.alltoall(64); }));
  PlayedRank rank(*world, 0);
  rank.play();
  ASSERT_EQ(rank.rounds.size(), 1u);
  const std::vector<std::string> waits(rank.rounds[0].end() - 5, rank.rounds[0].end());
  // Receives from 1, 2 and 3, sends to 3, 2 and 1; that to rank 1 is copied.
  EXPECT_EQ(waits, (std::vector<std::string>{"isend 1 00000000 64", "test", "wait", "delay 200", "waitall 4"}));
}

TEST(RankProgram, WithSstsOwnCollectivesFireflyChargesEverything) {
  const auto world = world_of(two_on_each_of(2), network::testing::loaded([](Mpi& mpi) {
                                mpi.send(1, 8);
                                mpi.recv(1, 8);
                              }),
                              true);
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"send 1 80000000 8"}, {"recv 1 80000000 8"}}));
}

TEST(RankProgram, WaitsForTheRequestsThatTheCallNamesInAnyOrder) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) {
                                const auto a = mpi.irecv(1, 8);
                                const auto none = mpi.irecv(kProcNull, 8);
                                const auto b = mpi.isend(1, 8);
                                const auto c = mpi.isend(2, 8);
                                mpi.waitall(std::array{c, none, a});
                                mpi.wait(b);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  const auto& started = rank.sink.started;
  EXPECT_EQ(rank.sink.waited, (std::vector<RequestHandle>{started[2], started[0], started[1]}));
  EXPECT_EQ(rank.use(CallKind::Irecv).calls, 2u) << "calls to MPI_PROC_NULL count";
}

TEST(RankProgram, PostsTheReceiveOfASendrecvBeforeItSends) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) {
                                mpi.sendrecv(1, 100, 5, 2, 200, 6);
                                mpi.sendrecv(kProcNull, 100, 5, 2, 200, 6);
                                mpi.sendrecv(1, 100, 5, kProcNull, 200, 6);
                                mpi.sendrecv(kProcNull, 1, 5, kProcNull, 2, 6);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"irecv 2 80000006 200", "send 1 80000005 100", "wait"},
                                 {"irecv 2 80000006 200", "wait"},
                                 {"send 1 80000005 100"}}));
  EXPECT_EQ(rank.use(CallKind::Sendrecv).calls, 4u);
  EXPECT_EQ(rank.use(CallKind::Sendrecv).bytes, 200u);
}

TEST(RankProgram, SendsCollectivesAsMessagesOfTheProjectsAlgorithms) {
  network::RunConfig config = ranks_on(2);
  config.collectives.allreduce = "recursive_doubling";
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.allreduce(10'000); }));
  PlayedRank rank(*world, 1);
  rank.play();
  // 10,000 bytes at 5 GB/s are 2 us.
  EXPECT_EQ(rank.rounds, (Rounds{{"irecv 0 00000000 10000", "isend 0 00000000 10000", "waitall 2", "delay 2000"}}));
  EXPECT_EQ(rank.use(CallKind::Allreduce).time, 4 * kMicrosecond);
  EXPECT_EQ(rank.use(CallKind::Allreduce).bytes, 10'000u);
}

TEST(RankProgram, DelaysForTheOwnWorkOfACollective) {
  network::RunConfig config = ranks_on(2);
  config.collectives.allgather = "bruck";
  config.network.host.collective_call_s = 3e-6;
  config.network.host.collective_step_s = 1.5e-6;
  config.network.host.copy_bandwidth_Bps = network::BandwidthBySize({{0, 1e9}, {20'000, 1e8}});
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.allgather(10'000); }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"delay 3000", "delay 10000", "irecv 1 00000000 10000", "isend 1 00000000 10000",
                                  "waitall 2", "delay 1500", "delay 200000"}}));
}

TEST(RankProgram, FreshBuffersOfACollectiveAreADelayBeforeItsMessages) {
  network::RunConfig config = ranks_on(2);
  config.collectives.allreduce = "recursive_doubling";
  config.network.host.fresh_bandwidth_Bps = network::BandwidthBySize({{0, 1e9}, {32 << 20, 1e10}});
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.allreduce(40'000'000); }));
  PlayedRank rank(*world, 0);
  rank.play();
  ASSERT_FALSE(rank.rounds.empty());
  ASSERT_GE(rank.rounds[0].size(), 2U);
  EXPECT_EQ(rank.rounds[0][0], "delay 4000000");
  EXPECT_EQ(rank.rounds[0][1], "irecv 1 00000000 40000000");
}

TEST(RankProgram, WorkOfLessThanANanosecondIsCarriedOn) {
  network::RunConfig config = ranks_on(2);
  config.network.host.collective_call_s = 0.3e-9;
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) {
                                const std::array<std::uint64_t, 2> nothing{0, 0};
                                for (int i = 0; i < 3; ++i) mpi.alltoallv(nothing, nothing);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"delay 0"}, {"delay 1"}, {"delay 0"}})) << "0.3, 0.6 and 0.9 ns";
}

TEST(RankProgram, TurnsAMessageAndItsWaitIntoOneEvent) {
  network::RunConfig config = ranks_on(4);
  config.collectives.bcast = "binomial";
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.bcast(64, 0); }));
  PlayedRank leaf(*world, 3);
  leaf.play();
  EXPECT_EQ(leaf.rounds, (Rounds{{"recv 2 00000000 64"}}));
}

TEST(RankProgram, AsksForLongCollectivesPieceByPiece) {
  network::RunConfig config = network::testing::small_machine({64}, {1}, {1});
  config.jobs[0].ranks_per_node = 8;
  config.collectives.alltoall = "pairwise";
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.alltoall(8); }));
  PlayedRank rank(*world, 5);
  rank.play();
  EXPECT_GT(rank.rounds.size(), 5u);
  EXPECT_EQ(rank.program.messages(), 511u);
  EXPECT_EQ(rank.use(CallKind::Alltoall).calls, 1u);
  EXPECT_EQ(rank.use(CallKind::Alltoall).time, rank.now);
}

TEST(RankProgram, NumbersRanksAsEmberDoes) {
  network::RunConfig config = ranks_on(4);
  config.jobs[0].ranks_per_node = 2;
  config.jobs[0].rank_order = network::RankOrder::Cyclic;
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) {
                                mpi.send(1, 8);
                                mpi.send(5, 8);
                              }));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{{"send 2 80000000 8"}, {"send 3 80000000 8"}})) << "node 1, first and second rank";
}

TEST(RankProgram, EndsAtTheLimitOfIterations) {
  network::RunConfig config = ranks_on(4);
  config.jobs[0].iterations_limit = 2;
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.send(1, 8); }, 5));
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.use(CallKind::Send).calls, 2u);
}

TEST(RankProgram, BeginsABackgroundJobAgain) {
  network::RunConfig config = ranks_on(4);
  config.jobs.push_back(config.jobs[0]);
  config.jobs[1].background = true;
  const auto world = world_of(config, network::testing::loaded([](Mpi& mpi) { mpi.send(1, 8); }, 2));
  PlayedRank rank(*world, 0, 1);
  rank.play(9);
  EXPECT_EQ(rank.use(CallKind::Send).calls, 8u) << "the ninth is under way";
  EXPECT_FALSE(rank.program.finished());
}

TEST(RankProgram, RefusesABackgroundJobThatTakesNoTime) {
  network::RunConfig config = ranks_on(4);
  config.jobs.push_back(config.jobs[0]);
  config.jobs[1].background = true;
  const auto world = world_of(config, network::testing::loaded([](Mpi&) {}));
  PlayedRank rank(*world, 0, 1);
  EXPECT_THROW(rank.play(1), UserError);
}

TEST(RankProgram, RefusesMessagesThatFireflyCannotCount) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) { mpi.send(1, 1ull << 31); }));
  PlayedRank rank(*world, 0);
  EXPECT_THROW(rank.play(), UserError);
}

TEST(RankProgram, NamesTheRankThatWaitsForNothing) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) { mpi.wait(Request{3}); }));
  PlayedRank rank(*world, 2);
  try {
    rank.play();
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "rank 2 of job main, MPI_Wait of step 1: waits for request 3, which it has not started in this step or "
              "waited for before");
  }
}

TEST(RankProgram, TellsWhatItWaitsFor) {
  const auto world = world_of(ranks_on(4), network::testing::loaded([](Mpi& mpi) {
                                mpi.send(3, 8);
                                const std::array requests = {mpi.isend(1, 8, 4), mpi.irecv(2, 16, 5)};
                                mpi.waitall(requests);
                              }));
  PlayedRank rank(*world, 0);
  EXPECT_EQ(rank.program.present().peer, kNoPeer);
  rank.play(4);
  const RankProgram::Present present = rank.program.present();
  EXPECT_EQ(present.operation, "MPI_Waitall");
  EXPECT_EQ(present.peer, 2);
  EXPECT_EQ(present.tag, 5);
  EXPECT_EQ(present.bytes, 16u);
  EXPECT_EQ(present.since, 3 * kMicrosecond);
}

}  // namespace
}  // namespace manynode::sst_element::testing
