// Remote operations in SST: the messages of the origin, the answers of a target that waits for something else.
#include <gtest/gtest.h>

#include "manynode/error_report.hpp"
#include "played_rank.hpp"

namespace manynode::sst_element::testing {
namespace {

using Rounds = std::vector<std::vector<std::string>>;

const std::vector<std::string> kOpened = {"irecv -1 70000000 16384"};

std::unique_ptr<World> one_sided_world(Body body) {
  return world_of(ranks_on(4), network::testing::loaded(std::move(body), 1, true));
}

TEST(OneSided, AnOriginSendsARequestAndWaitsForTheReply) {
  const auto world = one_sided_world([](Mpi& mpi) {
    mpi.put(1, 100, {});
    mpi.put(2, 100'000, {});
    mpi.get(1, 50'000, {});
    mpi.win_flush(kNoPeer, {});
  });
  PlayedRank rank(*world, 0);
  rank.play();
  EXPECT_EQ(rank.rounds, (Rounds{kOpened,
                                 {"irecv 1 70008000 0", "isend 1 70000000 100"},
                                 {"irecv 2 70008001 0", "isend 2 70000000 0", "isend 2 70004001 100000"},
                                 {"irecv 1 70008002 50000", "isend 1 70000000 0"},
                                 {"waitany 3"},
                                 {"waitany 3"},
                                 {"waitany 3"}}));
  const auto& started = rank.sink.started;
  EXPECT_EQ(rank.sink.waited, (std::vector<RequestHandle>{started[1], started[3], started[6]}));
  EXPECT_TRUE(rank.program.finished());
  EXPECT_EQ(rank.program.messages(), 6u);
  EXPECT_EQ(rank.program.bytes(), 150'100u);
  EXPECT_EQ(rank.use(CallKind::WinFlush).time, 3 * kMicrosecond);
}

TEST(OneSided, ATargetAnswersWhileItWaitsForSomethingElse) {
  const auto world = one_sided_world([](Mpi& mpi) { mpi.recv(2, 8, 5); });
  world->remote_operations().asked(0, 3, 1, {16, 800, 7});
  PlayedRank rank(*world, 1);
  rank.sink.request_comes_from = 3;
  rank.play();
  EXPECT_EQ(
      rank.rounds,
      (Rounds{kOpened, {"irecv 2 80000005 8"}, {"waitany 2"}, {kOpened[0], "isend 3 70008007 800"}, {"waitany 3"}}));
  EXPECT_EQ(rank.sink.waited, (std::vector<RequestHandle>{rank.sink.started[0], rank.sink.started[1]}));
  EXPECT_EQ(rank.program.messages(), 0u) << "the origin counts them";
}

TEST(OneSided, LongBytesComeAfterTheirRequestAndBeforeTheReply) {
  const auto world = one_sided_world([](Mpi& mpi) {
    const Request receive = mpi.irecv(2, 8, 5);
    mpi.wait(receive);
  });
  world->remote_operations().asked(0, 3, 1, {20'000, 0, 2});
  PlayedRank rank(*world, 1);
  rank.sink.request_comes_from = 3;
  rank.play(4);
  EXPECT_EQ(rank.rounds.back(), (std::vector<std::string>{kOpened[0], "irecv 3 70004002 20000"}));
  rank.play(1);
  EXPECT_EQ(rank.rounds.back(), (std::vector<std::string>{"waitany 3"}));
}

TEST(OneSided, RequestsOfTheApplicationAreWaitedForByNumber) {
  const auto world = one_sided_world([](Mpi& mpi) {
    const std::array open = {mpi.rget(2, 800, {}), mpi.rput(0, 8, {}), mpi.irecv(1, 8)};
    mpi.waitall(open);
  });
  PlayedRank rank(*world, 0);
  rank.play();
  const auto& started = rank.sink.started;
  EXPECT_EQ(rank.sink.waited, (std::vector<RequestHandle>{started[1], started[3]}));
}

TEST(OneSided, CollectivesAnswerAsWell) {
  const auto world = one_sided_world([](Mpi& mpi) { mpi.barrier(); });
  PlayedRank rank(*world, 0);
  rank.play();
  for (const auto& round : rank.rounds) {
    for (const std::string& event : round) EXPECT_TRUE(event.find("wait ") == std::string::npos) << event;
  }
  EXPECT_EQ(rank.sink.waited.size(), 4u) << "two messages and two receives";
}

TEST(OneSided, WhatCannotAnswerIsRefused) {
  const auto program = network::testing::loaded([](Mpi&) {}, 1, true);
  EXPECT_THROW(world_of(ranks_on(4), program, true), UserError) << "SST's own collectives";
  EXPECT_THROW(World(Settings{"", "", false, 0, 2}, ranks_on(4), {program}), UserError) << "two processes";
}

}  // namespace
}  // namespace manynode::sst_element::testing
