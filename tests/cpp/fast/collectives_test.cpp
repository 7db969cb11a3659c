// Collectives as the engine carries them out, against closed formulas.
#include <gtest/gtest.h>

#include "rare_calls.hpp"
#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

TEST(Collectives, RecursiveDoublingAllreduce) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.allreduce = "recursive_doubling";
  constexpr std::uint64_t kBytes = 1000;
  const auto result = run(config, [](Mpi& mpi) { mpi.allreduce(kBytes); });
  // log2(8) rounds: exchange with one partner, then combine.
  const Picoseconds round = eager_time(kBytes, 2) + kBytes * kReducePerByte;
  EXPECT_EQ(result.makespan, 3 * round);
  for (const auto& rank : result.jobs[0].ranks) {
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Allreduce)].time, 3 * round);
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Allreduce)].bytes, 3 * kBytes);
  }
}

TEST(Collectives, DisseminationBarrier) {
  const auto result = run(small_machine({8}, {1}, {1}), [](Mpi& mpi) { mpi.barrier(); });
  EXPECT_EQ(result.makespan, 3 * eager_time(0, 2));
}

TEST(Collectives, BinomialBcast) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.bcast = "binomial";
  const auto result = run(config, [](Mpi& mpi) { mpi.bcast(1000, 0); });
  EXPECT_EQ(result.makespan, 3 * eager_time(1000, 2));
}

TEST(Collectives, RareCallsEndAtAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 5, 8, 13}) {
    for (const std::uint64_t bytes : {8u, 50'000u}) {
      const auto config = small_machine({ranks}, {1}, {1});
      const auto result = run(config, [&](Mpi& mpi) { manynode::testing::emit_rare_calls(mpi, bytes); });
      EXPECT_EQ(result.makespan > 0, ranks > 1) << ranks;
      for (const auto& rank : result.jobs[0].ranks) {
        EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Allreduce)].calls, 3u) << "the non-blocking ones count";
        EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Waitsome)].calls, 1u);
      }
    }
  }
}

TEST(Collectives, ANonblockingOneTakesItsTimeInTheWait) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.allreduce = "recursive_doubling";
  constexpr std::uint64_t kBytes = 1000;
  const auto result = run(config, [](Mpi& mpi) {
    const Request request = mpi.iallreduce(kBytes);
    mpi.pause(1e-3);
    mpi.wait(request);
  });
  const Picoseconds moving = 3 * (eager_time(kBytes, 2) + kBytes * kReducePerByte);
  EXPECT_EQ(result.makespan, 1'000'000'000 + moving);
  for (const auto& rank : result.jobs[0].ranks) {
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Allreduce)].calls, 1u);
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Allreduce)].time, 0);
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Wait)].time, moving);
    EXPECT_EQ(rank[static_cast<std::size_t>(CallKind::Wait)].bytes, 3 * kBytes);
  }
}

TEST(Collectives, EveryCollectiveEndsAtAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 5, 8, 13, 24}) {
    const auto config = small_machine({ranks}, {1}, {1});
    const auto result = run(config, [](Mpi& mpi) {
      for (const std::uint64_t bytes : {8u, 50'000u}) {
        mpi.barrier();
        mpi.bcast(bytes, 0);
        mpi.reduce(bytes, mpi.size() - 1);
        mpi.allreduce(bytes);
        mpi.gather(bytes, 0);
        mpi.allgather(bytes);
        mpi.scatter(bytes, 0);
        mpi.alltoall(bytes);
      }
    });
    EXPECT_EQ(result.jobs[0].iteration_end.size(), 1u) << ranks;
  }
}

}  // namespace
}  // namespace manynode::network::testing
