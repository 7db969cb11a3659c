// Non-blocking collectives: they move before the next call that blocks, in the order of their starts, once.
#include <functional>

#include "matcher.hpp"

namespace manynode::test {
namespace {

std::vector<CallKind> calls_of(const std::vector<Primitive>& program) {
  std::vector<CallKind> kinds;
  for (const Primitive& primitive : program) {
    if (kinds.empty() || kinds.back() != primitive.call) kinds.push_back(primitive.call);
  }
  return kinds;
}

TEST(Nonblocking, MovesBeforeTheNextCallThatBlocksAndIsChargedToIt) {
  const int peer = 1;
  struct Blocking {
    CallKind kind;
    std::function<void(Mpi&)> emit;
  };
  const Blocking all[] = {
      {CallKind::Send, [&](Mpi& mpi) { mpi.send(kProcNull, 8); }},
      {CallKind::Recv, [&](Mpi& mpi) { mpi.recv(kProcNull, 8); }},
      {CallKind::Sendrecv, [&](Mpi& mpi) { mpi.sendrecv(kProcNull, 8, 0, kProcNull, 8, 0); }},
      {CallKind::Waitall, [](Mpi& mpi) { mpi.waitall({}); }},
      {CallKind::Waitsome, [](Mpi& mpi) { mpi.waitsome({}); }},
      {CallKind::Barrier, [](Mpi& mpi) { mpi.barrier(); }},
  };
  for (const Blocking& blocking : all) {
    SCOPED_TRACE(call_name(blocking.kind));
    const auto programs = lowered(2, {}, [&](Mpi& mpi) {
      const Request request = mpi.iallreduce(8);
      const Request receive = mpi.irecv(peer - mpi.rank(), 8);
      const Request send = mpi.isend(peer - mpi.rank(), 8);
      mpi.compute({0});
      blocking.emit(mpi);
      const std::array rest = {request, receive, send};
      mpi.waitall(rest);
    });
    std::vector<CallKind> expected = {CallKind::Irecv, CallKind::Isend, CallKind::Compute, blocking.kind};
    if (blocking.kind != CallKind::Waitall) expected.push_back(CallKind::Waitall);
    EXPECT_EQ(calls_of(programs[0]), expected);
    Matcher matcher(programs, SendMode::Rendezvous);
    matcher.run();
    EXPECT_EQ(matcher.bytes_combined(), 2 * 8U) << "once at each rank";
  }
}

TEST(Nonblocking, SeveralMoveInTheOrderOfTheirStartsWhicheverIsWaitedFor) {
  const auto programs = lowered(3, {}, [](Mpi& mpi) {
    const Request first = mpi.ibcast(100, 0);
    const Request second = mpi.ibcast(200, 1);
    mpi.wait(second);
    mpi.waitany(first);
  });
  std::vector<std::uint64_t> sizes;
  for (const Primitive& primitive : programs[2]) {
    if (primitive.kind == PrimitiveKind::Irecv) sizes.push_back(primitive.bytes);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{100, 200}));
  EXPECT_EQ(calls_of(programs[2]), std::vector{CallKind::Wait});
  Matcher(programs, SendMode::Rendezvous).run();
}

TEST(Nonblocking, TagsCountInTheOrderOfTheCalls) {
  const auto programs = lowered(2, {}, [](Mpi& mpi) {
    const Request early = mpi.ibarrier();
    mpi.barrier();
    mpi.wait(early);
  });
  std::vector<std::int32_t> tags;
  for (const Primitive& primitive : programs[0]) {
    if (primitive.kind == PrimitiveKind::Isend) tags.push_back(primitive.tag);
  }
  EXPECT_EQ(tags, (std::vector{0, 1}));
}

TEST(Nonblocking, EveryFormHasMpisNameAndARequestOfTheCommonCounter) {
  Communicators communicators(0, 1);
  Calls calls;
  Mpi mpi(0, 1, calls, communicators);
  const std::vector<std::uint64_t> counts{8};
  const std::vector<int> self{0};
  const Neighbors neighbors{.sources = self, .destinations = self};
  const Request requests[] = {mpi.ibarrier(),
                              mpi.ibcast(8, 0),
                              mpi.isend(kProcNull, 8),
                              mpi.ireduce(8, 0),
                              mpi.iallreduce(8),
                              mpi.iscan(8),
                              mpi.iexscan(8),
                              mpi.igather(8, 0),
                              mpi.igatherv(8, counts, 0),
                              mpi.iallgather(8),
                              mpi.iallgatherv(counts),
                              mpi.iscatter(8, 0),
                              mpi.iscatterv(counts, 8, 0),
                              mpi.ialltoall(8),
                              mpi.ialltoallv(counts, counts),
                              mpi.ialltoallw(counts, counts),
                              mpi.ireduce_scatter(8),
                              mpi.ireduce_scatter(counts),
                              mpi.ineighbor_allgather(8, neighbors),
                              mpi.ineighbor_allgatherv(8, counts, neighbors),
                              mpi.ineighbor_alltoall(8, neighbors),
                              mpi.ineighbor_alltoallv(counts, counts, neighbors),
                              mpi.ineighbor_alltoallw(counts, counts, neighbors)};
  constexpr const char* kNames[] = {"MPI_Ibarrier",
                                    "MPI_Ibcast",
                                    "MPI_Isend",
                                    "MPI_Ireduce",
                                    "MPI_Iallreduce",
                                    "MPI_Iscan",
                                    "MPI_Iexscan",
                                    "MPI_Igather",
                                    "MPI_Igatherv",
                                    "MPI_Iallgather",
                                    "MPI_Iallgatherv",
                                    "MPI_Iscatter",
                                    "MPI_Iscatterv",
                                    "MPI_Ialltoall",
                                    "MPI_Ialltoallv",
                                    "MPI_Ialltoallw",
                                    "MPI_Ireduce_scatter_block",
                                    "MPI_Ireduce_scatter",
                                    "MPI_Ineighbor_allgather",
                                    "MPI_Ineighbor_allgatherv",
                                    "MPI_Ineighbor_alltoall",
                                    "MPI_Ineighbor_alltoallv",
                                    "MPI_Ineighbor_alltoallw"};
  ASSERT_EQ(calls.calls.size(), std::size(kNames));
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    EXPECT_EQ(call_name(calls.calls[i]), kNames[i]);
    EXPECT_EQ(requests[i].id, i);
  }
  mpi.waitall(requests);
  Lowering lowering(0, {}, communicators);
  std::vector<Primitive> primitives;
  for (const Call& call : calls.calls) lowering.lower(call, calls, primitives);
  EXPECT_TRUE(primitives.empty()) << "one rank alone sends nothing and waits for nothing";
}

TEST(Nonblocking, ASecondWaitForACollectiveIsForARequestThatNobodyMade) {
  const auto programs = lowered(1, {}, [](Mpi& mpi) {
    const Request request = mpi.ibarrier();
    mpi.wait(request);
    mpi.wait(request);
  });
  ASSERT_EQ(programs[0].size(), 1U);
  EXPECT_EQ(programs[0][0].kind, PrimitiveKind::Wait);
}

TEST(Calls, KindsKnowWhatTheyAre) {
  EXPECT_EQ(call_name(CallKind::Waitsome), "MPI_Waitsome");
  EXPECT_EQ(call_name(CallKind::ReduceScatterv), "MPI_Reduce_scatter");
  EXPECT_EQ(call_name(CallKind::Exscan), "MPI_Exscan");
  EXPECT_EQ(call_name(CallKind::NeighborAlltoallw), "MPI_Neighbor_alltoallw");
  EXPECT_FALSE(is_collective(CallKind::Waitany));
  EXPECT_FALSE(is_collective(CallKind::Sendrecv));
  EXPECT_TRUE(is_collective(CallKind::Barrier));
  EXPECT_TRUE(is_collective(CallKind::NeighborAlltoallw));
  EXPECT_TRUE(is_wait(CallKind::Waitall));
  EXPECT_TRUE(is_wait(CallKind::Waitsome));
  EXPECT_FALSE(is_wait(CallKind::Sendrecv));
}

}  // namespace
}  // namespace manynode::test
