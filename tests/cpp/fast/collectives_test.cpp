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

TEST(Collectives, EveryStepAndEveryEntryTakeTheirTime) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.allreduce = "recursive_doubling";
  config.network.host.collective_call_s = 700e-9;
  config.network.host.collective_step_s = 450e-9;
  constexpr std::uint64_t kBytes = 1000;
  const Picoseconds round = eager_time(kBytes, 2) + 450'000 + kBytes * kReducePerByte;
  const auto result = run(config, [](Mpi& mpi) { mpi.allreduce(kBytes); });
  EXPECT_EQ(result.makespan, 700'000 + 3 * round);
  // Messages of the application have no steps.
  const auto message = [](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(1, kBytes);
    if (mpi.rank() == 1) mpi.recv(0, kBytes);
  };
  EXPECT_EQ(run(config, message).makespan, eager_time(kBytes, 2));
  EXPECT_EQ(run(config, [](Mpi& mpi) { mpi.allreduce(0); }).makespan, 0) << "the library returns at once";
}

TEST(Collectives, AStepIsOneForAllThatIsWaitedForTogether) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.bcast = "linear";
  const auto last = [&] {
    const auto result = run(config, [](Mpi& mpi) { mpi.bcast(8, 0); });
    return std::pair{finish_time(result, 0), finish_time(result, 7)};
  };
  const auto [root, leaf] = last();
  config.network.host.collective_step_s = 1e-6;
  EXPECT_EQ(last(), std::pair(root + 1'000'000, leaf + 1'000'000)) << "the root waits once for seven sends";
}

TEST(Collectives, BuffersAreCombinedAtTheRateOfTheirSize) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.allreduce = "recursive_doubling";
  config.network.host.reduce_bandwidth_Bps = BandwidthBySize({{0, 1e10}, {1000, 2e9}});
  const auto time = [&](std::uint64_t bytes) { return run(config, [=](Mpi& mpi) { mpi.allreduce(bytes); }).makespan; };
  EXPECT_EQ(time(992), 3 * (eager_time(992, 2) + 992 * 100));
  EXPECT_EQ(time(1000), 3 * (eager_time(1000, 2) + 1000 * 500));
}

TEST(Collectives, CopiesTakeTimeOnlyWhereARateIsGiven) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.allgather = "bruck";
  constexpr std::uint64_t kBytes = 1000;
  const auto time = [&] { return run(config, [](Mpi& mpi) { mpi.allgather(kBytes); }).makespan; };
  const Picoseconds messages = eager_time(kBytes, 2) + eager_time(2 * kBytes, 2) + eager_time(4 * kBytes, 2);
  EXPECT_EQ(time(), messages);
  // The own share, then all of them out of MPICH's temporary buffer: at most 7 at once.
  config.network.host.copy_bandwidth_Bps = 1e9;
  EXPECT_EQ(time(), messages + 9 * kBytes * 1000);
  config.network.host.copy_bandwidth_Bps = BandwidthBySize({{0, 1e9}, {8 * kBytes, 1e8}});
  EXPECT_EQ(time(), messages + kBytes * 1000 + 8 * kBytes * 10'000) << "rank 0 copies all at once";
  // Open MPI: rank 1 moves seven shares out of the way and back.
  config.collectives.rules = "openmpi";
  config.network.host.copy_bandwidth_Bps = 1e9;
  EXPECT_EQ(time(), messages + (1 + 7 + 1 + 7) * kBytes * 1000);
}

TEST(Collectives, FreshBuffersTakeTimeOnlyWhereARateIsGiven) {
  auto config = small_machine({8}, {1}, {1});
  config.collectives.allreduce = "recursive_doubling";
  constexpr std::uint64_t kBytes = 32 << 20;
  const auto time = [&](std::uint64_t bytes) { return run(config, [=](Mpi& mpi) { mpi.allreduce(bytes); }).makespan; };
  const Picoseconds reused = time(kBytes);
  const Picoseconds shorter = time(kBytes - 1);
  config.network.host.fresh_bandwidth_Bps = 1e9;
  EXPECT_EQ(time(kBytes), reused + kBytes * 1000) << "all ranks at once, before the first message";
  EXPECT_EQ(time(kBytes - 1), shorter) << "the buffer stays in the heap";
}

TEST(Collectives, TwoLevelsReduceWithinNodesFirst) {
  auto config = small_machine({2}, {1}, {1});
  config.jobs[0].ranks_per_node = 2;
  config.collectives.allreduce = "node_leader";
  constexpr std::uint64_t kBytes = 1000;
  const auto result = run(config, [](Mpi& mpi) { mpi.allreduce(kBytes); });
  const Picoseconds within = kOverheadSend + kIntranodeLatency + kBytes * kIntranodePerByte + kOverheadReceive;
  const Picoseconds combine = kBytes * kReducePerByte;
  EXPECT_EQ(result.makespan, within + combine + eager_time(kBytes, 2) + combine + within);
}

TEST(Collectives, SegmentsOverlapOnTheirWayDownAChain) {
  auto config = small_machine({4}, {1}, {1});
  config.collectives.bcast = "pipeline";
  constexpr std::uint64_t kBytes = 64'000;
  const auto time = [&] { return run(config, [](Mpi& mpi) { mpi.bcast(kBytes, 0); }).makespan; };
  const Picoseconds whole = time();
  config.collectives.segment_bytes = 8000;
  const Picoseconds cut = time();
  // Requests and acknowledgements of neighbours meet in the NICs.
  const auto hops = static_cast<double>(3 * rendezvous_time(kBytes, 2));
  EXPECT_NEAR(static_cast<double>(whole), hops, 0.01 * hops);
  EXPECT_LT(cut, whole / 2 + 3 * eager_time(0, 2));
  EXPECT_GT(cut, bytes_time(kBytes) + eager_time(0, 2));
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

// A receive costs 200 ns: the root takes the messages of 2 and 3 in while it waits for that of 1, as in a waitall.
TEST(Collectives, MessagesOfAStepAreTakenInOrderOfArrival) {
  RunConfig config = small_machine();
  config.collectives.gather = "linear";
  const auto late = [](Mpi& mpi) {
    if (mpi.rank() == 1) mpi.pause(10e-6);
  };
  const Picoseconds gathered = run(config, [&](Mpi& mpi) {
                                 late(mpi);
                                 mpi.gather(1000, 0);
                               }).makespan;
  const Picoseconds received = run(config, [&](Mpi& mpi) {
                                 late(mpi);
                                 if (mpi.rank() > 0) return mpi.send(0, 1000);
                                 mpi.waitall(std::array{mpi.irecv(1, 1000), mpi.irecv(2, 1000), mpi.irecv(3, 1000)});
                               }).makespan;
  const Picoseconds alone = run(config, [&](Mpi& mpi) {
                              late(mpi);
                              if (mpi.rank() == 1) mpi.send(0, 1000);
                              if (mpi.rank() == 0) mpi.recv(1, 1000);
                            }).makespan;
  EXPECT_EQ(gathered, received);
  EXPECT_EQ(gathered, alone);
}

}  // namespace
}  // namespace manynode::network::testing
