// The communication patterns: operation lists of small numbers of ranks, and that all messages meet for many numbers.
#include <set>
#include <sstream>

#include "manynode/error_report.hpp"
#include "matcher.hpp"

namespace manynode::test {
namespace {

using Values = std::map<std::string, ParameterValue>;

std::unique_ptr<Application> make(const std::string& pattern, Values values, int size) {
  values.try_emplace("pattern", pattern);
  values.try_emplace("iterations", std::int64_t{1});
  return make_application("patterns", Parameters(values), size);
}

// Runs `use(call, calls, communicators)` over the calls of one rank.
template <typename Use>
void for_each_call(const Application& application, int rank, int size, const Use& use) {
  Communicators communicators(rank, size);
  const auto skeleton = application.make(rank, size);
  Calls calls;
  for (bool more = true; more;) {
    calls.clear();
    Mpi mpi(rank, size, calls, communicators);
    more = skeleton->step(mpi);
    for (const Call& call : calls.calls) {
      use(call, calls, communicators);
    }
  }
}

// The operations of one rank in words: "send 1:64" is to rank 1, 64 bytes; "/3" behind it a tag; "-" is nobody.
std::string operations(const std::string& pattern, const Values& values, int rank, int size) {
  std::ostringstream text;
  const auto application = make(pattern, values, size);
  for_each_call(*application, rank, size, [&](const Call& call, const Calls& calls, const Communicators& all) {
    const Communicator comm{call.communicator};
    const auto add = [&](int peer, std::uint64_t bytes, int tag) {
      const int world = all.world_rank(comm, peer);
      text << ' ';
      (world == kProcNull ? text << '-' : text << world) << ':' << bytes;
      if (tag != 0) {
        text << '/' << tag;
      }
    };
    text << (text.tellp() == 0 ? "" : ", ") << call_name(call.kind).substr(4);
    switch (call.kind) {
      case CallKind::Send:
      case CallKind::Isend:
      case CallKind::Recv:
      case CallKind::Irecv:
        add(call.peer, call.bytes, call.tag);
        break;
      case CallKind::Sendrecv:
        add(call.peer, call.bytes, call.tag);
        add(call.peer2, calls.receive_bytes(call), calls.receive_tag(call));
        break;
      case CallKind::Waitall:
        text << ' ' << call.count;
        break;
      default:
        text << ' ' << call.bytes << " among";
        for (int member = 0; member < all.size(comm); ++member) {
          text << ' ' << all.world_rank(comm, member);
        }
    }
  });
  return text.str();
}

constexpr std::int64_t kBytes = 64;

TEST(Patterns, APingPongGoesBackAndForthBetweenTheFirstAndTheLastRank) {
  const Values twice = {{"bytes", kBytes}, {"iterations", std::int64_t{2}}};
  EXPECT_EQ(operations("ping-pong", twice, 0, 3), "Send 2:64, Recv 2:64, Send 2:64, Recv 2:64");
  EXPECT_EQ(operations("ping-pong", twice, 1, 3), "");
  EXPECT_EQ(operations("ping-pong", twice, 2, 3), "Recv 0:64, Send 0:64, Recv 0:64, Send 0:64");
  const Values others = {{"bytes", kBytes}, {"a", std::int64_t{2}}, {"b", std::int64_t{1}}};
  EXPECT_EQ(operations("ping-pong", others, 1, 3), "Recv 2:64, Send 2:64");
}

TEST(Patterns, ABisectionPairsTheHalves) {
  EXPECT_EQ(operations("bisection", {{"bytes", kBytes}}, 1, 5), "Sendrecv 3:64 3:64");
  EXPECT_EQ(operations("bisection", {{"bytes", kBytes}}, 2, 5), "Sendrecv 0:64 0:64");
  EXPECT_EQ(operations("bisection", {{"bytes", kBytes}}, 4, 5), "");
}

TEST(Patterns, PairsSendWindowsAndAnswerThem) {
  const Values two = {{"bytes", kBytes}, {"messages", std::int64_t{2}}};
  EXPECT_EQ(operations("multi-pair", two, 1, 5), "Isend 3:64, Isend 3:64, Waitall 2, Recv 3:4/1");
  EXPECT_EQ(operations("multi-pair", two, 3, 5), "Irecv 1:64, Irecv 1:64, Waitall 2, Send 1:4/1");
  EXPECT_EQ(operations("multi-pair", two, 4, 5), "");
}

TEST(Patterns, PairsSendBothWaysWithoutAnAnswer) {
  const Values both = {{"bytes", kBytes}, {"messages", std::int64_t{1}}, {"both_ways", true}};
  EXPECT_EQ(operations("multi-pair", both, 0, 4), "Irecv 2:64, Isend 2:64, Waitall 2");
  EXPECT_EQ(operations("multi-pair", both, 2, 4), "Irecv 0:64, Isend 0:64, Waitall 2");
}

TEST(Patterns, AShiftWrapsAround) {
  const Values two = {{"bytes", kBytes}, {"distance", std::int64_t{2}}};
  EXPECT_EQ(operations("shift", two, 0, 5), "Sendrecv 2:64 3:64");
  EXPECT_EQ(operations("shift", two, 4, 5), "Sendrecv 1:64 2:64");
}

TEST(Patterns, AnIncastEndsAtRankZero) {
  const Values two = {{"bytes", kBytes}, {"senders", std::int64_t{2}}};
  EXPECT_EQ(operations("incast", two, 0, 4), "Irecv 1:64, Irecv 2:64, Waitall 2");
  EXPECT_EQ(operations("incast", two, 2, 4), "Send 0:64");
  EXPECT_EQ(operations("incast", two, 3, 4), "");
  EXPECT_EQ(operations("incast", {{"bytes", kBytes}}, 3, 4), "Send 0:64");
}

TEST(Patterns, AHaloGoesBothWaysAlongEachDimension) {
  // 3 x 2 x 1, rank 2 is at (1, 0, 0): along the first dimension 0 and 4, along the second 3 on both sides.
  const Values periodic = {{"bytes", kBytes}, {"grid", std::string("3x2x1")}};
  EXPECT_EQ(operations("halo3d", periodic, 2, 6),
            "Irecv 4:64, Irecv 0:64/1, Irecv 3:64/2, Irecv 3:64/3, "
            "Isend 0:64, Isend 4:64/1, Isend 3:64/2, Isend 3:64/3, Waitall 8");
  Values bounded = periodic;
  bounded["periodic"] = false;
  bounded["allreduce_bytes"] = std::int64_t{8};
  EXPECT_EQ(operations("halo3d", bounded, 0, 6),
            "Irecv 2:64, Irecv 1:64/2, Isend 2:64/1, Isend 1:64/3, Waitall 4, Allreduce 8 among 0 1 2 3 4 5");
}

TEST(Patterns, AHaloOf26HasFacesEdgesAndCornersOfACube) {
  const Values all = {{"bytes", std::int64_t{8 * 100}}, {"neighbours", std::int64_t{26}}};
  std::map<std::uint64_t, int> sends;
  std::set<int> peers;
  const auto application = make("halo3d", all, 64);
  for_each_call(*application, 21, 64, [&](const Call& call, const Calls&, const Communicators&) {
    if (call.kind == CallKind::Isend) {
      ++sends[call.bytes];
      peers.insert(call.peer);
    }
  });
  EXPECT_EQ(sends, (std::map<std::uint64_t, int>{{8, 8}, {8 * 10, 12}, {8 * 100, 6}}));
  EXPECT_EQ(peers.size(), 26U);
}

TEST(Patterns, AHaloInFourDimensionsHasEightNeighbours) {
  const std::string list = operations("halo4d", {{"bytes", kBytes}}, 0, 81);
  EXPECT_EQ(list,
            "Irecv 27:64, Irecv 54:64/1, Irecv 9:64/2, Irecv 18:64/3, Irecv 3:64/4, Irecv 6:64/5, Irecv 1:64/6, "
            "Irecv 2:64/7, Isend 54:64, Isend 27:64/1, Isend 18:64/2, Isend 9:64/3, Isend 6:64/4, Isend 3:64/5, "
            "Isend 2:64/6, Isend 1:64/7, Waitall 16");
}

TEST(Patterns, ASweepRunsFromEachCornerToTheOppositeOne) {
  const Values one_chunk = {{"bytes", kBytes}, {"chunks", std::int64_t{1}}, {"grid", std::string("2x2")}};
  // Rank 1 is at the right of the upper row: x goes right, then left, first downwards, then upwards.
  EXPECT_EQ(operations("sweep2d", one_chunk, 1, 4),
            "Recv 0:64, Recv -:64, Send -:64, Send 3:64, "
            "Recv -:64, Recv -:64, Send 0:64, Send 3:64, "
            "Recv 0:64, Recv 3:64, Send -:64, Send -:64, "
            "Recv -:64, Recv 3:64, Send 0:64, Send -:64");
}

TEST(Patterns, ATransposeGoesAlongRowsThenColumns) {
  const Values grid = {{"bytes", kBytes}, {"grid", std::string("2x3")}, {"iterations", std::int64_t{2}}};
  const std::string once = "Alltoall 64 among 3 4 5, Alltoall 64 among 1 4";
  EXPECT_EQ(operations("transpose", grid, 4, 6), once + ", " + once);
}

TEST(Patterns, ATreeReductionGoesUpAndDown) {
  EXPECT_EQ(operations("tree-reduce", {{"bytes", kBytes}}, 1, 5),
            "Recv 3:64, Recv 4:64, Send 0:64, Recv 0:64, Send 3:64, Send 4:64");
  EXPECT_EQ(operations("tree-reduce", {{"bytes", kBytes}}, 0, 2),
            "Recv 1:64, Recv -:64, Send -:64, Recv -:64, Send 1:64, Send -:64");
}

TEST(Patterns, ARandomRingHasAllRanksInAnOrderThatTheSeedDecides) {
  constexpr int kSize = 50;
  const auto next_of = [](std::int64_t seed) {
    const auto application = make("random-ring", {{"seed", seed}}, kSize);
    std::vector<int> next(kSize, -1);
    for (int rank = 0; rank < kSize; ++rank) {
      for_each_call(*application, rank, kSize, [&](const Call& call, const Calls&, const Communicators&) {
        if (call.kind == CallKind::Isend && call.tag == 0) {
          next[static_cast<std::size_t>(rank)] = call.peer;
        }
      });
    }
    return next;
  };
  const auto next = next_of(1);
  int steps = 0;
  for (int rank = 0; steps == 0 || rank != 0; ++steps) {
    rank = next[static_cast<std::size_t>(rank)];
  }
  EXPECT_EQ(steps, kSize);  // one ring, not several
  EXPECT_EQ(next, next_of(1));
  EXPECT_NE(next, next_of(2));
}

TEST(Patterns, BlockingRingsMeetOnlyWhereSendsDoNotWait) {
  EXPECT_EQ(operations("blocking-ring", {{"bytes", kBytes}}, 3, 4), "Send 0:64, Recv 2:64");
  EXPECT_EQ(operations("blocking-ring", {{"bytes", kBytes}}, 0, 4), "Send 1:64, Recv 3:64");
}

TEST(Patterns, ACollectiveStandsAlone) {
  EXPECT_EQ(operations("collective", {{"bytes", kBytes}, {"collective", std::string("reduce_scatter")}}, 1, 3),
            "Reduce_scatter_block 64 among 0 1 2");
}

TEST(Patterns, TheAllToAllCongestorExchangesWithEveryPairInTurn) {
  const Values two = {{"bytes", kBytes}, {"messages", std::int64_t{2}}};
  EXPECT_EQ(operations("congestor-alltoall", two, 1, 4),
            "Irecv 0:64, Isend 0:64, Irecv 3:64, Isend 3:64, Waitall 4, Irecv 2:64, Isend 2:64, Waitall 2");
  EXPECT_EQ(operations("congestor-alltoall", {{"bytes", kBytes}}, 0, 3),
            "Irecv 2:64, Isend 1:64, Irecv 1:64, Isend 2:64, Waitall 4");
}

TEST(Patterns, TheTwoSidedIncastEndsInAnAllreduceOfItsRoot) {
  const Values two = {{"bytes", kBytes}, {"messages", std::int64_t{2}}};
  EXPECT_EQ(operations("congestor-incast-p2p", two, 0, 3),
            "Irecv 1:64, Irecv 2:64, Waitall 2, Irecv 1:64, Irecv 2:64, Waitall 2, Allreduce 8 among 0 1 2");
  EXPECT_EQ(operations("congestor-incast-p2p", two, 2, 3), "Send 0:64, Send 0:64, Allreduce 8 among 0 1 2");
  Values roots = two;
  roots["roots"] = std::int64_t{2};
  EXPECT_EQ(operations("congestor-incast-p2p", roots, 3, 5), "Send 1:64, Send 1:64, Allreduce 8 among 1 3");
}

TEST(Patterns, PutsFindTheirReceivesPostedAndAreFlushed) {
  const Values two = {{"bytes", kBytes}, {"messages", std::int64_t{2}}};
  EXPECT_EQ(
      operations("congestor-incast-rma", two, 0, 3),
      "Irecv 1:64, Irecv 1:64, Irecv 2:64, Irecv 2:64, Waitall 2, Isend 1:0/1, Waitall 2, Isend 2:0/1, Waitall 2");
  EXPECT_EQ(operations("congestor-incast-rma", two, 1, 3), "Irecv 0:0/1, Isend 0:64, Isend 0:64, Waitall 3");
}

TEST(Patterns, GetsAreAskedForAndAnswered) {
  const Values two = {{"bytes", kBytes}, {"messages", std::int64_t{2}}, {"roots", std::int64_t{2}}};
  EXPECT_EQ(
      operations("congestor-bcast-rma", two, 1, 6),
      "Irecv 3:0/1, Irecv 5:0/1, Waitall 1, Isend 3:64, Isend 3:64, Waitall 1, Isend 5:64, Isend 5:64, Waitall 4");
  EXPECT_EQ(operations("congestor-bcast-rma", two, 4, 6), "Irecv 0:64, Irecv 0:64, Isend 0:0/1, Waitall 3");
}

TEST(Patterns, APauseEndsEachIterationOfACongestor) {
  for (const char* pattern :
       {"congestor-alltoall", "congestor-incast-p2p", "congestor-incast-rma", "congestor-bcast-rma"}) {
    for (const double pause_us : {0.0, 2.5}) {
      const auto application = make(pattern, {{"pause_us", pause_us}, {"iterations", std::int64_t{2}}}, 4);
      for (int rank = 0; rank < 4; ++rank) {
        std::vector<std::uint64_t> pauses;
        CallKind last = CallKind::Send;
        for_each_call(*application, rank, 4, [&](const Call& call, const Calls&, const Communicators&) {
          last = call.kind;
          if (call.kind == CallKind::Compute && call.first == kPause) {
            pauses.push_back(call.bytes);
          }
        });
        EXPECT_EQ(pauses, pause_us > 0 ? std::vector<std::uint64_t>(2, 2'500'000) : std::vector<std::uint64_t>());
        EXPECT_EQ(last == CallKind::Compute, pause_us > 0);
      }
    }
  }
}

TEST(Patterns, AllMessagesMeetForEverySmallNumberOfRanksAndSomeLargerOnes) {
  for (const char* pattern : {"ping-pong", "bisection", "multi-pair", "shift", "incast", "halo3d", "halo4d", "sweep2d",
                              "transpose", "tree-reduce", "random-ring", "collective", "congestor-alltoall",
                              "congestor-incast-p2p", "congestor-incast-rma", "congestor-bcast-rma"}) {
    for (const int size : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 23, 27, 30, 36}) {
      SCOPED_TRACE(std::string(pattern) + " on " + std::to_string(size) + " ranks");
      const auto application = make(pattern, {{"iterations", std::int64_t{3}}}, size);
      std::vector<std::vector<Primitive>> programs;
      std::size_t primitives = 0;
      for (int rank = 0; rank < size; ++rank) {
        Communicators communicators(rank, size);
        Lowering lowering(rank, {}, communicators);
        const auto skeleton = application->make(rank, size);
        auto& program = programs.emplace_back();
        for (bool more = true; more;) {
          Calls calls;
          Mpi mpi(rank, size, calls, communicators);
          more = skeleton->step(mpi);
          for (const Call& call : calls.calls) {
            lowering.lower(call, calls, program);
          }
        }
        primitives += program.size();
      }
      EXPECT_GT(primitives, 0U);
      Matcher(programs, SendMode::Rendezvous).run();
    }
  }
}

void expect_refused(const std::string& pattern, const Values& values, int size, const std::string& where,
                    const std::string& allowed) {
  try {
    make(pattern, values, size);
    FAIL() << pattern << " was accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.where, where);
    EXPECT_EQ(error.allowed, allowed);
  }
}

TEST(Patterns, WhatDoesNotFitIsRefused) {
  expect_refused(
      "pingpong", {}, 2, "pattern",
      "bisection, blocking-ring, collective, congestor-alltoall, congestor-bcast-rma, "
      "congestor-incast-p2p, congestor-incast-rma, halo3d, halo4d, incast, multi-pair, ping-pong, random-ring, "
      "shift, sweep2d, transpose, "
      "tree-reduce");
  expect_refused("ping-pong", {{"b", std::int64_t{4}}}, 4, "b", "0 to 3");
  expect_refused("ping-pong", {{"b", std::int64_t{0}}}, 4, "a, b", "two different ranks");
  expect_refused("bisection", {}, 1, "ranks", "at least 2");
  expect_refused("multi-pair", {}, 1, "ranks", "at least 2");
  expect_refused("blocking-ring", {}, 1, "ranks", "at least 2");
  expect_refused("shift", {{"distance", std::int64_t{4}}}, 4, "distance", "1 to 3, less than the number of ranks");
  expect_refused("incast", {{"senders", std::int64_t{4}}}, 4, "senders",
                 "1 to 3, less than the number of ranks; 0 is all");
  expect_refused("halo3d", {{"neighbours", std::int64_t{8}}}, 8, "neighbours", "6, 26");
  for (const char* pattern : {"congestor-incast-p2p", "congestor-incast-rma", "congestor-bcast-rma"}) {
    expect_refused(pattern, {{"roots", std::int64_t{3}}}, 5, "roots", "at most half of the 5 ranks");
    expect_refused(pattern, {}, 1, "roots", "at most half of the 1 ranks");
  }
  expect_refused("congestor-alltoall", {}, 1, "ranks", "at least 2");
  for (const char* grid : {"2x2", "2x2x3", "2x2x2x1", "ax2x4", "2x2x2 ", "-2x-2x2", "0x0x0", "99999999999x1x1"}) {
    expect_refused("halo3d", {{"grid", std::string(grid)}}, 8, "grid", "3 extents whose product is 8");
  }
  expect_refused("collective", {{"collective", std::string("allreduc")}}, 8, "collective",
                 "barrier, bcast, reduce, allreduce, gather, allgather, scatter, alltoall, reduce_scatter, scan");
  expect_refused("collective", {{"root", std::int64_t{8}}}, 8, "root", "0 to 7");
}

TEST(Patterns, AParameterThatWouldChangeNothingIsRefused) {
  expect_refused("ping-pong", {{"chunks", std::int64_t{3}}}, 2, "chunks", "pattern, iterations, bytes, a, b");
}

}  // namespace
}  // namespace manynode::test
