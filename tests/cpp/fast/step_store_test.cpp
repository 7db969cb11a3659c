// Steps that are kept once for all ranks that do the same, and requests that leave no record.
#include "step_store.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "small_machine.hpp"

namespace manynode::network::testing::step_store_test {
namespace {

constexpr std::uint64_t kEagerLimit = 100;

// A rank sends `bytes` to the next one and receives as much from the one before.
Step* ring_step(StepStore& store, int rank, std::uint64_t bytes, Step* before = nullptr) {
  Communicators communicators(rank, 100);
  Mpi mpi(rank, 100, store.fresh(), communicators);
  const manynode::Request receive = mpi.irecv(rank - 1, bytes);
  const manynode::Request send = mpi.isend(rank + 1, bytes);
  mpi.waitall(std::vector{receive, send});
  return store.keep(rank, before);
}

TEST(StepStore, RanksThatDoTheSameShareAStep) {
  StepStore store(kEagerLimit);
  Step* step = ring_step(store, 7, 10);
  EXPECT_EQ(ring_step(store, 50, 10), step);
  EXPECT_EQ(store.size(), 1u);
  EXPECT_NE(ring_step(store, 50, 11), step);
  EXPECT_EQ(absolute_peer(step->calls.calls[0].peer, 50), 49);
  EXPECT_EQ(absolute_peer(step->calls.calls[1].peer, 7), 8);
}

TEST(StepStore, AStepThatNobodyIsInIsGivenUp) {
  StepStore store(kEagerLimit);
  Step* first = ring_step(store, 1, 10);
  Step* second = ring_step(store, 2, 10);
  ASSERT_EQ(first, second);
  first = ring_step(store, 1, 20, first);
  EXPECT_EQ(store.size(), 2u);
  second = ring_step(store, 2, 20, second);
  EXPECT_EQ(store.size(), 1u);
  EXPECT_EQ(first, second);
  EXPECT_EQ(ring_step(store, 2, 20, second), second);
}

TEST(StepStore, OnlySomeKindsOfPeersAreDistances) {
  StepStore store(kEagerLimit);
  Communicators communicators(5, 100);
  Mpi mpi(5, 100, store.fresh(), communicators);
  mpi.bcast(8, 3);
  mpi.irecv(kAnySource, 8);
  mpi.isend(kProcNull, 8);
  mpi.send(0, 8, 0, mpi.strided(5, 10, 2));
  const auto& calls = store.keep(5, nullptr)->calls.calls;
  EXPECT_EQ(calls[0].peer, 3);
  EXPECT_EQ(calls[1].peer, kAnySource);
  EXPECT_EQ(calls[2].peer, kProcNull);
  EXPECT_EQ(calls[3].peer, 0);
}

TEST(StepStore, WaitsDoNotNameWhatIsCompleteAtOnce) {
  StepStore store(kEagerLimit);
  const auto& eager = ring_step(store, 1, kEagerLimit)->calls;
  EXPECT_EQ(eager.requests, std::vector<std::uint32_t>{0});
  EXPECT_EQ(eager.calls.back().count, 1u);
  const auto& rendezvous = ring_step(store, 1, kEagerLimit + 1)->calls;
  EXPECT_EQ(rendezvous.requests, (std::vector<std::uint32_t>{0, 1}));
}

TEST(StepStore, WhoWaitsTwiceForAnEagerSendHearsOfIt) {
  const std::string reason = failure(small_machine(), [](Mpi& mpi) {
    if (mpi.rank() == 1) mpi.recv(0, 8);
    if (mpi.rank() != 0) return;
    const manynode::Request send = mpi.isend(1, 8);
    mpi.wait(send);
    mpi.wait(send);
  });
  EXPECT_NE(reason.find("never started"), std::string::npos) << reason;
}

}  // namespace
}  // namespace manynode::network::testing::step_store_test
