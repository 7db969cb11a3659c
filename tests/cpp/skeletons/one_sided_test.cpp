// One-sided calls lowered to primitives, and by name.
#include <gtest/gtest.h>

#include "manynode/named_call.hpp"
#include "manynode/primitive.hpp"

namespace manynode::test {
namespace {

// Of rank 1 of four, as "Remote 2 100 0" (kind, peer, bytes, returned) or "Wait 0" (the operation that made the
// request).
std::vector<std::string> lowered_as_text(const std::function<void(Mpi&)>& emit) {
  Communicators communicators(1, 4);
  Calls calls;
  Mpi mpi(1, 4, calls, communicators);
  emit(mpi);
  Lowering lowering(1, {}, communicators);
  std::vector<Primitive> primitives;
  for (const Call& call : calls.calls) lowering.lower(call, calls, primitives);
  std::vector<std::string> lines;
  std::vector<std::uint32_t> requests;
  for (const Primitive& primitive : primitives) {
    const std::string peer = std::to_string(primitive.peer) + " " + std::to_string(primitive.bytes);
    if (primitive.kind == PrimitiveKind::Wait) {
      const auto made = std::find(requests.begin(), requests.end(), primitive.request) - requests.begin();
      lines.push_back("Wait " + std::to_string(made));
      continue;
    }
    requests.push_back(primitive.request);
    if (primitive.kind == PrimitiveKind::Remote) {
      lines.push_back("Remote " + peer + " " + std::to_string(primitive.returned));
    } else {
      lines.push_back((primitive.kind == PrimitiveKind::Isend ? "Isend " : "Irecv ") + peer);
    }
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(OneSided, BytesGoTheWayOfTheOperation) {
  EXPECT_EQ(lowered_as_text([](Mpi& mpi) {
              mpi.put(0, 10, {});
              mpi.get(2, 20, {});
              mpi.accumulate(3, 30, {});
              mpi.get_accumulate(2, 40, {});
            }),
            (Lines{"Remote 0 10 0", "Remote 2 0 20", "Remote 3 30 0", "Remote 2 40 40"}));
}

TEST(OneSided, NoMessagesToTheRankItselfAndToNobody) {
  EXPECT_EQ(lowered_as_text([](Mpi& mpi) {
              mpi.win_lock(1, {});
              mpi.put(1, 10, {});
              mpi.get(kProcNull, 10, {});
              mpi.wait(mpi.rput(1, 10, {}));
              mpi.win_unlock(1, {});
              mpi.win_post(std::array{1}, {});
              mpi.win_start(std::array{1}, {});
              mpi.win_complete(std::array{1}, {});
              mpi.win_wait(std::array{1}, {});
            }),
            Lines{});
}

TEST(OneSided, WhatEndsAnEpochWaitsForTheOperationsOfItsWindowAndTarget) {
  const Window other{kWorld, 1};
  EXPECT_EQ(lowered_as_text([&](Mpi& mpi) {
              mpi.put(0, 1, {});
              mpi.put(2, 2, {});
              mpi.put(2, 3, other);
              mpi.win_flush(2, {});
              mpi.win_flush(kNoPeer, other);
              mpi.win_complete(std::array{0}, {});
              mpi.win_flush(kNoPeer, {});
            }),
            (Lines{"Remote 0 1 0", "Remote 2 2 0", "Remote 2 3 0", "Wait 1", "Wait 2", "Wait 0", "Isend 0 0"}));
}

TEST(OneSided, LocksAskTheTargetOrAllOthers) {
  EXPECT_EQ(lowered_as_text([](Mpi& mpi) {
              mpi.win_lock(3, {});
              mpi.put(3, 5, {});
              mpi.win_unlock(3, {});
            }),
            (Lines{"Remote 3 0 0", "Wait 0", "Remote 3 5 0", "Wait 1", "Remote 3 0 0", "Wait 2"}));
  EXPECT_EQ(lowered_as_text([](Mpi& mpi) { mpi.win_lock(kNoPeer, {}); }),
            (Lines{"Remote 2 0 0", "Remote 3 0 0", "Remote 0 0 0", "Wait 0", "Wait 1", "Wait 2"}));
}

TEST(OneSided, PostsAndCompletesAreEmptyMessagesOfTheirWindow) {
  Communicators communicators(0, 2);
  Calls calls;
  Mpi mpi(0, 2, calls, communicators);
  const std::array other = {1};
  mpi.win_post(other, {kWorld, 3});
  mpi.win_start(other, {kWorld, 3});
  mpi.win_complete(other, {kWorld, 3});
  mpi.win_wait(other, {kWorld, 3});
  mpi.win_post(other, {kWorld, 4});
  Lowering lowering(0, {}, communicators);
  std::vector<Primitive> primitives;
  for (const Call& call : calls.calls) lowering.lower(call, calls, primitives);
  ASSERT_EQ(primitives.size(), 7u) << "posts and completes are not waited for";
  EXPECT_EQ(primitives[0].request, kForgotten);
  EXPECT_EQ(primitives[0].tag, primitives[1].tag) << "a post meets a start";
  EXPECT_EQ(primitives[3].tag, primitives[4].tag) << "a complete meets a wait";
  EXPECT_NE(primitives[0].tag, primitives[3].tag);
  EXPECT_NE(primitives[0].tag, primitives[6].tag) << "another window";
  EXPECT_GE(primitives[0].tag, kFirstWindowTag);
  EXPECT_EQ(primitives[0].context, collective_context(0));
  EXPECT_EQ(primitives[3].call, CallKind::WinComplete);
}

TEST(OneSided, AFenceIsABarrierThatCountsAsFence) {
  Communicators communicators(0, 4);
  Calls calls;
  Mpi mpi(0, 4, calls, communicators);
  mpi.put(1, 8, {});
  mpi.win_fence({});
  mpi.barrier();
  Lowering lowering(0, {}, communicators);
  std::vector<Primitive> fence;
  std::vector<Primitive> barrier;
  lowering.lower(calls.calls[0], calls, fence);
  lowering.lower(calls.calls[1], calls, fence);
  lowering.lower(calls.calls[2], calls, barrier);
  ASSERT_EQ(fence.size(), barrier.size() + 2);
  EXPECT_EQ(fence[1].kind, PrimitiveKind::Wait);
  for (std::size_t i = 1; i < fence.size(); ++i) EXPECT_EQ(fence[i].call, CallKind::WinFence);
  for (std::size_t i = 0; i < barrier.size(); ++i) {
    EXPECT_EQ(fence[i + 2].kind, barrier[i].kind);
    EXPECT_EQ(fence[i + 2].peer, barrier[i].peer);
  }
}

TEST(OneSided, NamesOfOperationsHaveAFormWithARequest) {
  EXPECT_EQ(call_form("MPI_Rput"), (CallForm{CallKind::Put, true}));
  EXPECT_EQ(call_form("MPI_Rget_accumulate"), (CallForm{CallKind::GetAccumulate, true}));
  EXPECT_EQ(call_form("MPI_Get"), (CallForm{CallKind::Get, false}));
  EXPECT_EQ(call_form("MPI_Iput"), std::nullopt);
  EXPECT_EQ(call_form("MPI_Iwin_fence"), std::nullopt);
  Communicators communicators(0, 2);
  Calls calls;
  Mpi mpi(0, 2, calls, communicators);
  NamedCall get;
  get.form = {CallKind::Get, true};
  get.peer = 1;
  get.bytes = 80;
  get.window = 2;
  ASSERT_TRUE(emit(mpi, get));
  const std::array group = {1};
  NamedCall start;
  start.form = {CallKind::WinStart, false};
  start.window = 2;
  start.group = group;
  EXPECT_FALSE(emit(mpi, start));
  EXPECT_EQ(call_name(calls.calls[0]), "MPI_Rget");
  EXPECT_EQ(calls.calls[0].peer2, 2);
  EXPECT_EQ(calls.group(calls.calls[1]).front(), 1u);
  EXPECT_THROW(mpi.put(2, 8, {}), std::logic_error) << "no such rank";
}

}  // namespace
}  // namespace manynode::test
