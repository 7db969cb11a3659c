// What a router would count: credit stalls of links and inq stalls of the input ports behind them, followed by hand in
// small cases, and never more than the time of the run.
#include <gtest/gtest.h>

#include "small_machine.hpp"
#include "topologies/dragonfly.hpp"
#include "topologies/torus.hpp"

namespace manynode::network::testing::stall_counters_test {
namespace {

constexpr std::uint64_t kChunk = 2048;
constexpr Picoseconds kToSwitch = kLinkLatency + kSwitchLatency;

RunConfig with_buffers(RunConfig config, std::uint64_t chunks) {
  config.network.flow_control = FlowControl::Credits;
  config.network.input_buffer_bytes = chunks * kChunk;
  config.network.output_buffer_bytes = chunks * kChunk;
  config.network.host.eager_limit_bytes = std::uint64_t{1} << 40;
  return config;
}

RunConfig on(std::shared_ptr<const Topology> topology) {
  auto config = small_machine();
  config.network.topology = std::move(topology);
  config.jobs[0].nodes = config.network.topology->hosts();
  return config;
}

LinkId link_between(const RunConfig& config, const std::string& source, const std::string& target) {
  const Topology& topology = *config.network.topology;
  for (LinkId link = 0; link < topology.links(); ++link) {
    const auto ends = topology.describe(link);
    if (ends.source == source && ends.target == target) return link;
  }
  ADD_FAILURE() << "no link from " << source << " to " << target;
  return 0;
}

// Ranks 1 and above send to rank 0.
Body incast(std::uint64_t bytes) {
  return [=](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, bytes);
    for (int sender = 1; mpi.rank() == 0 && sender < mpi.size(); ++sender) mpi.recv(sender, bytes);
  };
}

TEST(Stalls, OfAShortBufferAreThoseOfTheLinkBeforeIt) {
  // One chunk per round trip: the link is idle for the rest of it, but nothing waits in an input buffer.
  constexpr int kChunks = 8;
  const auto result = run(with_buffers(small_machine({2}, {1}, {1}), 1), one_way(kChunks * kChunk, 1));
  EXPECT_EQ(result.stalls[0].credit, (kChunks - 1) * (2 * kToSwitch - bytes_time(kChunk)));
  EXPECT_EQ(result.stalls[0].inq, 0);
  for (LinkId link = 1; link < result.stalls.size(); ++link) {
    EXPECT_EQ(result.stalls[link].credit, 0);
    EXPECT_EQ(result.stalls[link].inq, 0);
  }
}

// Hosts 1 and 2 send two chunks each to host 0, through buffers of one chunk. From the time at which the first chunks
// start (a chunk takes 204.8 ns, a link and its switch 190 ns, a NIC frees its buffer 90 ns after the start on its link
// and the credit is back 190 ns later):
//
//   0        both first chunks start; their credits are back at 380
//   190      both arrive; host 1's starts for host 0, host 2's is in the output buffer
//   204.8    both NICs have their second chunk ready: stalled until 380
//   394.8    the link to host 0 is free, but its credit comes 280 ns after its last start: stalled until 470
//   570      both second chunks arrive; host 1's goes into the output buffer, host 2's waits in its input
//   674.8    the link is free: stalled until 750, when host 1's second chunk starts and host 2's leaves its input
//   954.8    the link is free: stalled until 1030
constexpr Picoseconds kStalledNic = 2 * kToSwitch - bytes_time(kChunk);
constexpr Picoseconds kStalledDown = kLinkLatency + kToSwitch - bytes_time(kChunk);
constexpr Picoseconds kBlocked =
    (kToSwitch + kLinkLatency + kToSwitch + kLinkLatency + kToSwitch) - (2 * kToSwitch + kToSwitch);

TEST(Stalls, OfTwoSendersIntoOneLinkAreAsFollowedByHand) {
  const auto config = with_buffers(small_machine({3}, {1}, {1}), 1);
  const auto result = run(config, incast(2 * kChunk));
  const LinkId down = link_between(config, "leaf-0", "host-0");
  EXPECT_EQ(kStalledNic, 175'200);
  EXPECT_EQ(kBlocked, 180'000);
  EXPECT_EQ(result.stalls[1].credit, kStalledNic);
  EXPECT_EQ(result.stalls[2].credit, kStalledNic);
  EXPECT_EQ(result.stalls[down].credit, 3 * kStalledDown);
  EXPECT_EQ(result.stalls[1].inq, 0);
  EXPECT_EQ(result.stalls[2].inq, kBlocked);
  EXPECT_EQ(result.stalls[down].inq, 0);  // a NIC is no switch
}

TEST(Stalls, InIntervalsAddUpAndFillIntervalsInWhichNothingElseHappens) {
  auto config = with_buffers(small_machine({3}, {1}, {1}), 1);
  config.counters = CountersConfig{50e-9, true};
  const auto result = run(config, incast(2 * kChunk));
  std::vector<LinkStalls> sums(result.links.size());
  bool waits_alone = false;
  bool blocked_alone = false;
  for (const SeriesRow& row : result.series) {
    const Picoseconds length = row.end - row.start;
    EXPECT_LE(row.stalls.credit, length);
    EXPECT_LE(row.stalls.inq, length);
    EXPECT_LE(row.stalls.credit + row.busy, length);
    sums[row.link].credit += row.stalls.credit;
    sums[row.link].inq += row.stalls.inq;
    waits_alone |= row.busy == 0 && row.stalls.credit == length;
    blocked_alone |= row.busy == 0 && row.bytes == 0 && row.queue_bytes == 0 && row.stalls.inq == length;
  }
  for (LinkId link = 0; link < sums.size(); ++link) {
    EXPECT_EQ(sums[link].credit, result.stalls[link].credit);
    EXPECT_EQ(sums[link].inq, result.stalls[link].inq);
  }
  EXPECT_TRUE(waits_alone);
  EXPECT_TRUE(blocked_alone);
}

TEST(Stalls, OfAHotLinkAreFeltBeforeItAndNotByIt) {
  // Each sender has half of the link: it injects for half of the time and is stalled for the other half, and its input
  // is blocked all the time. What is in the buffers in the end (8 chunks of 512) was not held back.
  constexpr std::uint64_t kBytes = 512 * kChunk;
  const auto config = with_buffers(small_machine({3}, {1}, {1}), 4);
  const auto result = run(config, incast(kBytes));
  const double unit = static_cast<double>(bytes_time(kBytes));
  for (const LinkId host : {1u, 2u}) {
    EXPECT_NEAR(static_cast<double>(result.stalls[host].credit) / unit, 1, 0.03);
    EXPECT_NEAR(static_cast<double>(result.stalls[host].inq) / unit, 2, 0.03);
    // With one message, a NIC has one chunk at a time: what chunks wait is what the link stalls.
    EXPECT_EQ(result.stalls[host].credit, result.links[host].stall);
  }
  EXPECT_EQ(result.stalls[link_between(config, "leaf-0", "host-0")].credit, 0);
}

TEST(Stalls, SpreadBackToTheCableOfOthers) {
  // Hosts 4 and 5 send to host 0 over the cable between the leaves, with hosts 1 to 3: host 0's link is the hot spot,
  // the links of the cable stall for want of credits, and so do the hosts behind them.
  constexpr std::uint64_t kBytes = 256 * kChunk;
  const auto config = with_buffers(small_machine({4, 2}, {1, 1}, {1, 1}), 4);
  const auto result = run(config, [](Mpi& mpi) {
    if (mpi.rank() >= 1 && mpi.rank() <= 5) mpi.send(0, kBytes);
    for (int sender = 1; mpi.rank() == 0 && sender <= 5; ++sender) mpi.recv(sender, kBytes);
  });
  const double unit = static_cast<double>(bytes_time(kBytes));
  const auto credit = [&](const std::string& source, const std::string& target) {
    return static_cast<double>(result.stalls[link_between(config, source, target)].credit) / unit;
  };
  // The four inputs have a quarter of the link each until hosts 1 to 3 are done, after four times their bytes, of which
  // the cable was busy for one; then it has the link for itself.
  EXPECT_NEAR(credit("leaf-1", "level2-0"), 3, 0.1);
  EXPECT_NEAR(credit("level2-0", "leaf-0"), 3, 0.1);
  EXPECT_NEAR(credit("host-1", "leaf-0"), 3, 0.1);
  // Hosts 4 and 5 share what the cable has: five times their bytes in all, for one of which each is busy.
  EXPECT_NEAR(credit("host-4", "leaf-1"), 4, 0.1);
  EXPECT_EQ(credit("leaf-0", "host-0"), 0);
  EXPECT_EQ(credit("leaf-0", "level2-0"), 0);
}

TEST(Stalls, AreAtMostTheTimeOfTheRunWithManyChannels) {
  std::vector<RunConfig> machines{small_machine({4, 4}, {1, 2}, {1, 1})};
  machines.push_back(on(std::make_shared<Torus>(std::vector<std::int64_t>{4, 3, 2}, 2, 1, "", true)));
  machines.push_back(on(std::make_shared<Dragonfly>(Dragonfly::Shape{5, 4, 2, 1, 1}, Dragonfly::Routing::Ugal,
                                                    Dragonfly::kDefaultBias, "")));
  for (const RunConfig& machine : machines) {
    auto config = with_buffers(machine, 2);
    config.counters = CountersConfig{1e-6, false};
    const auto result = run(config, [](Mpi& mpi) { mpi.alltoall(20 * kChunk); });
    Picoseconds stalled = 0;
    LinkStalls sum;
    for (LinkId link = 0; link < result.links.size(); ++link) {
      EXPECT_LE(result.stalls[link].credit + result.links[link].busy, result.makespan);
      EXPECT_LE(result.stalls[link].inq, result.makespan);
      stalled += result.links[link].stall;
      sum.credit += result.stalls[link].credit;
      sum.inq += result.stalls[link].inq;
    }
    EXPECT_GT(sum.credit, 0) << config.network.topology->kind();
    EXPECT_GT(sum.inq, 0) << config.network.topology->kind();
    EXPECT_LT(sum.credit, stalled);  // which waiting behind other chunks is part of
    for (const SeriesRow& row : result.series) {
      sum.credit -= row.stalls.credit;
      sum.inq -= row.stalls.inq;
    }
    EXPECT_EQ(sum.credit, 0);
    EXPECT_EQ(sum.inq, 0);
  }
}

TEST(Stalls, OfARunThatEndsAmidTrafficAreCountedUpToItsEnd) {
  // A background job keeps hosts 1 and 2 of a leaf stalled when the other job ends.
  auto config = with_buffers(small_machine({4, 2}, {1, 1}, {1, 1}), 2);
  const auto of = [](std::vector<std::uint32_t> hosts) {
    JobConfig job;
    job.nodes = static_cast<std::uint32_t>(hosts.size());
    job.hosts = std::move(hosts);
    return job;
  };
  config.jobs = {of({4, 5}), of({0, 1, 2})};
  config.jobs[1].background = true;
  const auto result = simulate({loaded(one_way(400 * kChunk, 1)), loaded(incast(5000 * kChunk))}, config, 0);
  const double end = static_cast<double>(result.makespan);
  for (const LinkId host : {1u, 2u}) {
    EXPECT_NEAR(static_cast<double>(result.stalls[host].credit) / end, 0.5, 0.02);
    EXPECT_LE(result.stalls[host].inq, result.makespan);
    EXPECT_GT(static_cast<double>(result.stalls[host].inq) / end, 0.95);
  }
}

TEST(Stalls, AreNoneWithoutFlowControl) {
  auto config = with_buffers(small_machine({3}, {1}, {1}), 4);
  config.network.flow_control = FlowControl::None;
  const auto result = run(config, incast(64 * kChunk));
  for (const LinkStalls& stalls : result.stalls) {
    EXPECT_EQ(stalls.credit, 0);
    EXPECT_EQ(stalls.inq, 0);
  }
}

}  // namespace
}  // namespace manynode::network::testing::stall_counters_test
