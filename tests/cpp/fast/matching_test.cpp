// MPI's matching rules. A receive shorter than its message is an error, so a wrong pairing of messages of different
// lengths fails the run.
#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(Matching, WildcardReceivesTakeMessagesInOrderOfArrival) {
  // Rank 1 is two links away, rank 2 four: the message of rank 1 is the first.
  const auto result = run(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 1) mpi.send(0, 100, 7);
    if (mpi.rank() == 2) mpi.send(0, 200, 8);
    if (mpi.rank() == 0) {
      mpi.recv(kAnySource, 100, kAnyTag);
      mpi.recv(kAnySource, 200, kAnyTag);
    }
  });
  EXPECT_EQ(result.makespan, eager_time(200, 4));
}

TEST(Matching, WildcardTagTakesTheOldestMessageOfTheSource) {
  EXPECT_EQ(failure(small_machine(),
                    [](Mpi& mpi) {
                      if (mpi.rank() == 1) {
                        mpi.send(0, 100, 7);
                        mpi.send(0, 200, 8);
                      }
                      if (mpi.rank() == 0) {
                        mpi.recv(2, 8);  // later than both
                        mpi.recv(1, 100, kAnyTag);
                        mpi.recv(1, 200, kAnyTag);
                      }
                      if (mpi.rank() == 2) mpi.send(0, 8);
                    }),
            "no error");
}

TEST(Matching, SmallMessageDoesNotOvertakeALargeOne) {
  // The large message is complete after the small one, eager or rendezvous, but comes first in order.
  for (const std::uint64_t large : {std::uint64_t{16'384}, std::uint64_t{100'000}}) {
    EXPECT_EQ(failure(small_machine(),
                      [=](Mpi& mpi) {
                        if (mpi.rank() == 0) {
                          const auto first = mpi.isend(2, large, 5);
                          const auto second = mpi.isend(2, 8, 5);
                          mpi.waitall(std::vector{first, second});
                        }
                        if (mpi.rank() == 2) {
                          const auto first = mpi.irecv(0, large, 5);
                          const auto second = mpi.irecv(0, 8, 5);
                          mpi.waitall(std::vector{second, first});
                        }
                      }),
              "no error");
  }
}

TEST(Matching, TagsChooseAmongUnexpectedMessages) {
  EXPECT_EQ(failure(small_machine(),
                    [](Mpi& mpi) {
                      if (mpi.rank() == 1) {
                        for (int tag = 0; tag < 5; ++tag) mpi.send(0, 100u + static_cast<unsigned>(tag), tag);
                      }
                      for (int tag = 4; mpi.rank() == 0 && tag >= 0; --tag)
                        mpi.recv(1, 100u + static_cast<unsigned>(tag), tag);
                    }),
            "no error");
}

TEST(Matching, CollectivesDoNotMeetPointToPointMessages) {
  EXPECT_EQ(failure(small_machine(),
                    [](Mpi& mpi) {
                      const auto request = mpi.irecv(kAnySource, 8, kAnyTag);
                      mpi.allreduce(64);
                      mpi.send((mpi.rank() + 1) % mpi.size(), 8);
                      mpi.wait(request);
                    }),
            "no error");
}

TEST(Matching, NeighboursAtTheEdgeAreNull) {
  EXPECT_EQ(failure(small_machine(),
                    [](Mpi& mpi) {
                      const int right = mpi.rank() + 1 < mpi.size() ? mpi.rank() + 1 : kProcNull;
                      const int left = mpi.rank() > 0 ? mpi.rank() - 1 : kProcNull;
                      mpi.sendrecv(right, 100, 0, left, 100, 0);
                    }),
            "no error");
}

TEST(Matching, TruncationIsAnError) {
  const auto text = failure(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, 800, 5);
    if (mpi.rank() == 1) mpi.recv(0, 799, 5);
  });
  EXPECT_NE(text.find("a message is longer than the receive"), std::string::npos) << text;
  EXPECT_NE(text.find("message from rank 0 to rank 1, tag 5, 800 bytes"), std::string::npos) << text;
}

TEST(Matching, ReceiveWithoutSendIsADeadlockWithNames) {
  const auto text = failure(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 1) mpi.send(3, 800, 6);
    if (mpi.rank() == 3) mpi.recv(1, 800, 5);
  });
  EXPECT_EQ(text,
            "the simulation ended with 1 unfinished ranks\n"
            "rank 3 waits in MPI_Recv (step 1) for a message from rank 1, tag 5, 800 bytes, context 0\n"
            "nobody received the message from rank 1 to rank 3, tag 6, 800 bytes, context 0");
}

TEST(Matching, CycleOfBlockingSendsAboveTheEagerLimitIsADeadlock) {
  const auto cycle = [](std::uint64_t bytes) {
    return [=](Mpi& mpi) {
      mpi.send((mpi.rank() + 1) % mpi.size(), bytes);
      mpi.recv((mpi.rank() + mpi.size() - 1) % mpi.size(), bytes);
    };
  };
  EXPECT_EQ(failure(small_machine(), cycle(kEagerLimit)), "no error");
  const auto text = failure(small_machine(), cycle(kEagerLimit + 1));
  EXPECT_NE(text.find("the simulation ended with 4 unfinished ranks"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 0 waits in MPI_Send (step 1) for rank 1 to receive its message"), std::string::npos)
      << text;
}

TEST(Matching, LongListsOfWaitingRanksAreCut) {
  const auto text = failure(small_machine({16}, {1}, {1}), [](Mpi& mpi) { mpi.recv(kAnySource, 8); });
  EXPECT_NE(text.find("for a message from any rank"), std::string::npos) << text;
  EXPECT_NE(text.find("... and 6 more ranks"), std::string::npos) << text;
}

TEST(Matching, EagerMessageThatNobodyReceivesIsAnError) {
  const auto text = failure(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, 8, 4);
  });
  EXPECT_NE(text.find("all ranks finished, but messages or receives are left"), std::string::npos) << text;
  EXPECT_NE(text.find("nobody received the message from rank 0 to rank 1, tag 4"), std::string::npos) << text;
}

TEST(Matching, ReceiveThatNobodyMeetsIsAnError) {
  const auto text = failure(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.irecv(1, 8, 4);
  });
  EXPECT_NE(text.find("nobody sent to the receive of rank 0 from rank 1, tag 4"), std::string::npos) << text;
}

TEST(Matching, WaitForAnUnknownRequestIsAnError) {
  const auto text = failure(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 2) mpi.wait(manynode::Request{3});
  });
  EXPECT_NE(text.find("rank 2 waits in MPI_Wait for request 3"), std::string::npos) << text;
}

}  // namespace
}  // namespace manynode::network::testing
