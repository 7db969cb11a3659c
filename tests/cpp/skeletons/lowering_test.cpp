// Calls lowered to primitives: blocking calls, requests, contexts and tags, peers that are none.
#include "matcher.hpp"

namespace manynode::test {
namespace {

std::vector<Primitive> of_kind(const std::vector<Primitive>& program, PrimitiveKind kind) {
  std::vector<Primitive> found;
  std::copy_if(program.begin(), program.end(), std::back_inserter(found),
               [&](const Primitive& primitive) { return primitive.kind == kind; });
  return found;
}

TEST(Lowering, ABlockingSendWaitsForItsOwnRequest) {
  const auto programs = lowered(2, {}, [](Mpi& mpi) { mpi.rank() == 0 ? mpi.send(1, 40, 7) : mpi.recv(0, 40, 7); });
  ASSERT_EQ(programs[0].size(), 2U);
  EXPECT_EQ(programs[0][0].kind, PrimitiveKind::Isend);
  EXPECT_EQ(programs[0][0].call, CallKind::Send);
  EXPECT_EQ(programs[0][0].bytes, 40U);
  EXPECT_EQ(programs[0][0].tag, 7);
  EXPECT_EQ(programs[0][1].kind, PrimitiveKind::Wait);
  EXPECT_EQ(programs[0][1].request, programs[0][0].request);
  EXPECT_NE(programs[0][0].request & kLoweredRequest, 0U);
  Matcher(programs, SendMode::Rendezvous).run();
}

TEST(Lowering, RequestsOfTheApplicationKeepTheirNumbers) {
  const auto programs = lowered(1, {}, [](Mpi& mpi) {
    const std::array requests = {mpi.irecv(0, 8), mpi.isend(0, 8)};
    mpi.waitall(requests);
  });
  ASSERT_EQ(programs[0].size(), 4U);
  EXPECT_EQ(programs[0][0].request, 0U);
  EXPECT_EQ(programs[0][1].request, 1U);
  EXPECT_EQ(programs[0][2].call, CallKind::Waitall);
  EXPECT_EQ(programs[0][2].request, 0U);
  EXPECT_EQ(programs[0][3].request, 1U);
}

TEST(Lowering, ARingOfSendrecvsDoesNotDeadlock) {
  const auto programs =
      lowered(5, {}, [](Mpi& mpi) { mpi.sendrecv((mpi.rank() + 1) % 5, 1000, 3, (mpi.rank() + 4) % 5, 1000, 3); });
  Matcher matcher(programs, SendMode::Rendezvous);
  matcher.run();
  EXPECT_EQ(matcher.bytes_received(0), 1000U);
}

TEST(Lowering, MessagesToNobodyLeaveNoTrace) {
  const auto programs = lowered(2, {}, [](Mpi& mpi) {
    mpi.send(kProcNull, 8);
    mpi.recv(kProcNull, 8);
    const int left = mpi.rank() - 1 < 0 ? kProcNull : mpi.rank() - 1;
    const int right = mpi.rank() + 1 > 1 ? kProcNull : mpi.rank() + 1;
    mpi.sendrecv(right, 16, 0, left, 16, 0);
    const std::array requests = {mpi.irecv(left, 24), mpi.isend(right, 24)};
    mpi.waitall(requests);
    mpi.wait(mpi.isend(kProcNull, 8));
  });
  EXPECT_EQ(programs[0].size(), 4U);  // two sends and their waits
  EXPECT_EQ(programs[1].size(), 4U);  // two receives and their waits
  Matcher(programs, SendMode::Rendezvous).run();
}

TEST(Lowering, CollectivesDoNotMatchTheApplicationsMessages) {
  const auto programs = lowered(2, {}, [](Mpi& mpi) {
    const Request receive = mpi.irecv(1 - mpi.rank(), 8, 0);
    mpi.allreduce(8);
    mpi.send(1 - mpi.rank(), 8, 0);
    mpi.wait(receive);
  });
  EXPECT_EQ(programs[0][0].context, 0);
  EXPECT_EQ(of_kind(programs[0], PrimitiveKind::Irecv)[1].context, 1);
  Matcher matcher(programs, SendMode::Eager);
  matcher.run();
  EXPECT_EQ(matcher.known(0), (Known{1, 1}));
}

TEST(Lowering, SuccessiveCollectivesHaveTagsOfTheirOwn) {
  const auto programs = lowered(2, {}, [](Mpi& mpi) {
    const Communicator both = mpi.strided(0, 1, 2);
    for (const Communicator comm : {kWorld, both}) {
      mpi.barrier(comm);
      mpi.allreduce(8, comm);
    }
  });
  const auto sends = of_kind(programs[0], PrimitiveKind::Isend);
  ASSERT_EQ(sends.size(), 4U);
  EXPECT_NE(sends[0].tag, sends[1].tag);
  EXPECT_NE(sends[2].tag, sends[3].tag);
}

TEST(Lowering, RowsMayDifferInTheirNumberOfCollectivesBeforeColumnsMeet) {
  // A 2 x 3 grid; the second row does two more collectives than the first.
  const auto programs = lowered(6, {}, [](Mpi& mpi) {
    const int row = mpi.rank() / 3;
    const int column = mpi.rank() % 3;
    const Communicator in_row = mpi.strided(3 * row, 1, 3);
    const Communicator in_column = mpi.strided(column, 3, 2);
    for (int i = 0; i < 1 + 2 * row; ++i) {
      mpi.allreduce(8, in_row);
    }
    mpi.bcast(64, 1, in_column);
    mpi.barrier();
  });
  Matcher(programs, SendMode::Rendezvous).run();
}

TEST(Lowering, PeersAreRanksOfTheWorldInEveryCommunicator) {
  const auto programs = lowered(9, {}, [](Mpi& mpi) {
    if (mpi.rank() % 2 == 1) {
      const Communicator odd = mpi.strided(1, 2, 4);
      mpi.allgather(100, odd);
      const int next = (mpi.rank(odd) + 1) % mpi.size(odd);
      const int previous = (mpi.rank(odd) + 3) % mpi.size(odd);
      mpi.sendrecv(next, 5, 1, previous, 5, 1, odd);
    }
  });
  Matcher matcher(programs, SendMode::Rendezvous);
  matcher.run();
  EXPECT_EQ(matcher.known(3), (Known{0, 1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_TRUE(programs[0].empty());
}

TEST(Lowering, AReceiveFromAnySourceStaysOne) {
  const auto programs = lowered(2, {}, [](Mpi& mpi) { mpi.wait(mpi.irecv(kAnySource, 8, kAnyTag)); });
  EXPECT_EQ(programs[0][0].peer, kAnySource);
  EXPECT_EQ(programs[0][0].tag, kAnyTag);
}

TEST(Mpi, APeerOutsideTheCommunicatorIsADefectWithAName) {
  EXPECT_THROW(lowered(2, {}, [](Mpi& mpi) { mpi.send(2, 8); }), std::logic_error);
  EXPECT_THROW(lowered(2, {}, [](Mpi& mpi) { mpi.bcast(8, -5); }), std::logic_error);
  EXPECT_THROW(lowered(2, {}, [](Mpi& mpi) { mpi.alltoallv(std::vector<std::uint64_t>(1), {}); }), std::logic_error);
}

}  // namespace
}  // namespace manynode::test
