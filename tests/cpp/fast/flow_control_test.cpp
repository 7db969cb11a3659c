// Finite buffers and credits, against closed formulas: what a buffer lets through, who waits for whom, and that nothing
// changes where nobody waits.
#include <gtest/gtest.h>

#include "small_machine.hpp"
#include "topologies/dragonfly.hpp"
#include "topologies/torus.hpp"

namespace manynode::network::testing::flow_control_test {
namespace {

constexpr std::uint64_t kChunk = 2048;
constexpr Picoseconds kRoundTrip = 2 * (kLinkLatency + kSwitchLatency);

RunConfig with_buffers(RunConfig config, std::uint64_t chunks) {
  config.network.flow_control = FlowControl::Credits;
  config.network.input_buffer_bytes = chunks * kChunk;
  config.network.output_buffer_bytes = chunks * kChunk;
  return config;
}

RunConfig with_credits(RunConfig config) {
  config.network.flow_control = FlowControl::Credits;
  return config;
}

RunConfig on(RunConfig config, std::shared_ptr<const Topology> topology) {
  config.network.topology = std::move(topology);
  config.jobs[0].nodes = config.network.topology->hosts();
  return config;
}

// Hosts on a ring, one per switch.
RunConfig ring(std::int64_t switches) {
  return on(small_machine(),
            std::make_shared<Torus>(std::vector<std::int64_t>{switches}, 1, 1, "network.topology", true));
}

// All messages are eager: they start at once.
RunConfig eager(RunConfig config) {
  config.network.host.eager_limit_bytes = std::uint64_t{1} << 40;
  return config;
}

LinkId link_between(const Topology& topology, const std::string& source, const std::string& target) {
  for (LinkId link = 0; link < topology.links(); ++link) {
    const auto ends = topology.describe(link);
    if (ends.source == source && ends.target == target) return link;
  }
  ADD_FAILURE() << "no link from " << source << " to " << target;
  return 0;
}

TEST(FlowControl, ABufferOfOneChunkLetsOneThroughPerRoundTrip) {
  // The buffer is empty again when the head of the chunk has come and moved on, and the sender knows it a way back
  // later.
  constexpr int kChunks = 8;
  const auto result = run(with_buffers(small_machine({2}, {1}, {1}), 1), one_way(kChunks * kChunk, 1));
  static_assert(kRoundTrip > bytes_time(kChunk));
  EXPECT_EQ(result.makespan, (kChunks - 1) * kRoundTrip + eager_time(kChunk, 2));
  // The first chunk found room at once, each other one came when the chunk before it had been sent.
  EXPECT_EQ(result.links[0].stall, (kChunks - 1) * (kRoundTrip - bytes_time(kChunk)));
  EXPECT_EQ(result.links[0].busy, kChunks * bytes_time(kChunk));
}

TEST(FlowControl, ABufferOfARoundTripReachesTheLineRate) {
  // On the way in a round trip of 380 ns are 3800 bytes: two chunks are enough, over one switch and over three.
  static_assert(bytes_time(2 * kChunk) >= kRoundTrip);
  for (const int peer : {1, 2}) {
    const int links = peer == 1 ? 2 : 4;
    const auto result = run(with_buffers(eager(small_machine()), 2), one_way(100 * kChunk, peer));
    EXPECT_EQ(result.makespan, eager_time(100 * kChunk, links));
  }
}

TEST(FlowControl, AReceiverSlowerThanItsLinkHoldsItsSendersBack) {
  // The receiving NIC takes a tenth of the rate of its link, and each sender could give as much: without flow control,
  // what it does not take waits in it without end.
  auto config = eager(small_machine({3}, {1}, {1}));
  config.network.host.nic_bandwidth_Bps = 1e9;
  const Body body = [](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, 32 * kChunk);
    for (int sender = 1; mpi.rank() == 0 && sender < 3; ++sender) mpi.recv(sender, 32 * kChunk);
  };
  const auto free = run(config, body);
  const auto held = run(with_buffers(config, 2), body);
  EXPECT_EQ(held.makespan, free.makespan);
  for (const LinkId host : {1u, 2u}) {
    EXPECT_EQ(free.links[host].stall, 0);
    EXPECT_GT(held.links[host].stall, 0);
  }
}

// Every rank sends to the one `distance` further on.
Body shift(std::uint64_t bytes, int distance) {
  return [=](Mpi& mpi) {
    const int size = mpi.size();
    mpi.sendrecv((mpi.rank() + distance) % size, bytes, 0, (mpi.rank() + size - distance) % size, bytes, 0);
  };
}

std::vector<RunConfig> machines() {
  std::vector<RunConfig> all{small_machine({4, 4}, {1, 4}, {1, 1}), small_machine({4, 4, 2}, {1, 4, 2}, {1, 1, 2})};
  for (const bool balanced : {true, false}) {
    all.push_back(on(small_machine(), std::make_shared<Torus>(std::vector<std::int64_t>{4, 3, 2}, 2, 1, "", balanced)));
  }
  using Routing = Dragonfly::Routing;
  for (const auto routing : {Routing::Minimal, Routing::Valiant, Routing::Ugal}) {
    const Dragonfly::Shape shape{5, 4, 2, 1, 1};
    all.push_back(on(small_machine(), std::make_shared<Dragonfly>(shape, routing, Dragonfly::kDefaultBias, "")));
  }
  all.push_back(
      on(small_machine(), std::make_shared<FatTree>(std::vector<std::int64_t>{4, 4}, std::vector<std::int64_t>{1, 4},
                                                    std::vector<std::int64_t>{1, 1}, "", FatTree::Routing::Adaptive)));
  return all;
}

TEST(FlowControl, ChangesNothingWhereNobodyWaits) {
  for (auto config : machines()) {
    const int last = static_cast<int>(config.network.topology->hosts()) - 1;
    for (const std::uint64_t bytes : {0u, 1u, 2048u, 5000u, 16'384u, 100'000u, 1'000'000u}) {
      for (const int peer : {1, last / 2, last}) {
        EXPECT_EQ(run(with_credits(config), one_way(bytes, peer)).makespan, run(config, one_way(bytes, peer)).makespan)
            << config.network.topology->kind() << " " << bytes << " bytes to " << peer;
      }
    }
  }
  // A full fat-tree under a permutation, links of two rates, a NIC slower or faster than its link.
  const auto tree = small_machine({4, 4}, {1, 4}, {1, 1});
  EXPECT_EQ(run(with_credits(tree), shift(16'384, 4)).makespan, run(tree, shift(16'384, 4)).makespan);
  for (const double rate : {4e9, 2.5e10}) {
    auto links = tree;
    links.network.link_classes["leaf-up"] = {rate, 90e-9};
    auto nics = tree;
    nics.network.host.nic_bandwidth_Bps = rate;
    for (const auto& config : {links, nics}) {
      EXPECT_EQ(run(with_credits(config), shift(16'384, 4)).makespan, run(config, shift(16'384, 4)).makespan) << rate;
    }
  }
}

TEST(FlowControl, RailsTheGapAndRanksOfANodeWorkAsWithout) {
  auto config = small_machine({4, 4}, {1, 4}, {1, 1});
  config.network.host.gap_s = 1e-6;
  config.jobs[0].ranks_per_node = 2;
  const Body body = [](Mpi& mpi) {
    // Ranks of node 0 to those of node 4, two messages each.
    if (mpi.rank() < 2) {
      mpi.send(8 + mpi.rank(), 10'000);
      mpi.send(8 + mpi.rank(), 8);
    } else if (mpi.rank() == 8 || mpi.rank() == 9) {
      mpi.recv(mpi.rank() - 8, 10'000);
      mpi.recv(mpi.rank() - 8, 8);
    }
  };
  EXPECT_EQ(run(with_credits(config), body).makespan, run(config, body).makespan);
  config.network.host.rails = 2;
  config.network.host.rail_choice = RailChoice::Striped;
  config.jobs[0].ranks_per_node = 1;
  config.jobs[0].nodes = 8;
  EXPECT_EQ(run(with_credits(config), one_way(100'000, 4)).makespan, run(config, one_way(100'000, 4)).makespan);
}

TEST(FlowControl, MessagesOfManyChunksArriveWhole) {
  // 64 MiB through buffers of 16 KiB are 32768 chunks of 2 KiB; without flow control, they would be 64.
  const std::uint64_t bytes = std::uint64_t{64} << 20;
  const auto result = run(with_buffers(small_machine({2}, {1}, {1}), 8), one_way(bytes, 1));
  EXPECT_EQ(result.makespan, acknowledged_time(bytes, 2));
  EXPECT_EQ(result.links[0].chunks, 32768u + 1);  // and the request
}

TEST(FlowControl, InputsShareALinkEquallyHoweverManyFlowsTheyCarry) {
  // The parking lot: hosts 1 to 4 of a ring send to host 5. At each switch, the link ahead is shared by the switch's
  // own host and the link from behind: host 4 gets half, host 3 a quarter, hosts 1 and 2 an eighth. Host 4 is done
  // after two times its bytes, host 3 (half done, then at half of the rate) after three, the others after four.
  constexpr std::uint64_t kBytes = 1024 * kChunk;
  const auto result = run(with_buffers(eager(ring(12)), 4), [](Mpi& mpi) {
    if (mpi.rank() >= 1 && mpi.rank() <= 4) mpi.send(5, kBytes);
    if (mpi.rank() == 5) {
      for (int sender = 4; sender >= 1; --sender) mpi.recv(sender, kBytes);
    }
  });
  // The receiver waits for them in the order of their end; the times of its calls are in one sum, so only the last is
  // seen there. The others are seen on the links of the hosts: they stall while their buffer is full.
  const double unit = static_cast<double>(bytes_time(kBytes));
  EXPECT_NEAR(static_cast<double>(result.makespan) / unit, 4, 0.05);
  const auto stall = [&](LinkId host) { return static_cast<double>(result.links[host].stall) / unit; };
  EXPECT_NEAR(stall(4), 2 - 1, 0.05);
  EXPECT_NEAR(stall(3), 3 - 1, 0.05);
  EXPECT_NEAR(stall(2), 4 - 1, 0.1);
  EXPECT_NEAR(stall(1), 4 - 1, 0.1);
}

TEST(FlowControl, APacketBehindABlockedOneWaitsToo) {
  // Hosts 0, 4, 5 and 6 send to host 2, so that each gets a quarter of its link; host 0 sends to the idle host 3 as
  // well, in turns with the other message, chunk by chunk. In small buffers, its chunks to host 3 wait behind those to
  // host 2; in large ones, they only share the link of host 0.
  constexpr std::uint64_t kBytes = 128 * kChunk;
  const Body body = [](Mpi& mpi) {
    const int rank = mpi.rank();
    if (rank == 0) {
      const Request requests[] = {mpi.isend(2, kBytes), mpi.isend(3, kBytes)};
      mpi.waitall(requests);
    }
    if (rank == 4 || rank == 5 || rank == 6) mpi.send(2, kBytes);
    if (rank == 2) {
      for (const int sender : {0, 4, 5, 6}) mpi.recv(sender, kBytes);
    }
    if (rank == 3) mpi.recv(0, kBytes);
  };
  const auto config = eager(small_machine({8}, {1}, {1}));
  const auto time_of_host_3 = [&](const RunConfig& machine) {
    return static_cast<double>(finish_time(run(machine, body), 3)) / static_cast<double>(bytes_time(kBytes));
  };
  EXPECT_NEAR(time_of_host_3(config), 2, 0.1);
  EXPECT_NEAR(time_of_host_3(with_buffers(config, 1000)), 2, 0.1);
  EXPECT_NEAR(time_of_host_3(with_buffers(config, 4)), 4, 0.2);
}

TEST(FlowControl, AnIncastSpreadsBackToOthers) {
  // Two leaves with one cable up each. Hosts 1, 2, 3 (this leaf) and 4, 5 (the other) send to host 0; host 6 sends to
  // host 1 over the same cable as 4 and 5. Host 0's link gives each of its four inputs a quarter, so every two chunks
  // of the cable for host 0 need eight times a chunk, and the one for host 1 between them waits for them: eight times
  // its bytes. Without back-pressure, it has a third of the cable.
  constexpr std::uint64_t kBytes = 256 * kChunk;
  const Body body = [](Mpi& mpi) {
    const int rank = mpi.rank();
    if (rank >= 1 && rank <= 5) {
      const Request sent = mpi.isend(0, kBytes);
      if (rank == 1) mpi.recv(6, kBytes);
      mpi.wait(sent);
    }
    if (rank == 6) mpi.send(1, kBytes);
    for (int sender = 1; rank == 0 && sender <= 5; ++sender) mpi.recv(sender, kBytes);
  };
  const auto config = eager(small_machine({4, 2}, {1, 1}, {1, 1}));
  const auto time_of_victim = [&](const ReplicaResult& result) {
    return static_cast<double>(finish_time(result, 1)) / static_cast<double>(bytes_time(kBytes));
  };
  const auto free = run(config, body);
  const auto held = run(with_buffers(config, 4), body);
  EXPECT_NEAR(time_of_victim(free), 3, 0.1);
  // When hosts 1, 2 and 3 are done (after four times their bytes), the cable has host 0 for itself.
  EXPECT_GT(time_of_victim(held), 1.5 * time_of_victim(free));
  for (const LinkId host : {4u, 5u, 6u}) {
    EXPECT_EQ(free.links[host].stall, 0);
    EXPECT_GT(held.links[host].stall, bytes_time(kBytes));
  }
  // What is carried is the same.
  for (LinkId link = 0; link < free.links.size(); ++link) {
    EXPECT_EQ(held.links[link].bytes, free.links[link].bytes);
    EXPECT_EQ(held.links[link].busy, free.links[link].busy);
  }
}

TEST(FlowControl, QueuesAreNoLongerThanTheBuffers) {
  const auto config = eager(small_machine({8}, {1}, {1}));
  const Body body = [](Mpi& mpi) {
    if (mpi.rank() > 0) mpi.send(0, 64 * kChunk);
    for (int sender = 1; mpi.rank() == 0 && sender < 8; ++sender) mpi.recv(sender, 64 * kChunk);
  };
  const LinkId last = link_between(*config.network.topology, "leaf-0", "host-0");
  EXPECT_GT(run(config, body).queue_max_bytes[last], 64 * kChunk);
  const auto result = run(with_buffers(config, 4), body);
  EXPECT_GT(result.queue_max_bytes[last], 3.0 * kChunk);
  EXPECT_LE(result.queue_max_bytes[last], 5.0 * kChunk);  // the output buffer, and what is being sent
}

TEST(FlowControl, FullRingsWithOneChunkBuffersDoNotDeadlock) {
  for (const auto& config : machines()) {
    const int hosts = static_cast<int>(config.network.topology->hosts());
    for (const int distance : {1, hosts / 2 - 1, hosts / 2, hosts / 2 + 1}) {
      const auto result = run(with_buffers(config, 1), shift(40 * kChunk, distance));
      EXPECT_EQ(result.bytes(), std::uint64_t(hosts) * 40 * kChunk);
    }
    const auto result = run(with_buffers(eager(config), 1), [](Mpi& mpi) { mpi.alltoall(4 * kChunk); });
    EXPECT_EQ(result.bytes(), std::uint64_t(hosts) * std::uint64_t(hosts - 1) * 4 * kChunk);
  }
  run(with_buffers(ring(8), 1), shift(40 * kChunk, 4));
  run(with_buffers(ring(5), 1), shift(40 * kChunk, 2));
}

TEST(FlowControl, AdaptiveRoutingSeesTheBuffers) {
  // Hosts of one leaf send to destinations that D-mod-k all gives one up-port.
  const auto tree = [](FatTree::Routing routing) {
    return on(small_machine(),
              std::make_shared<FatTree>(std::vector<std::int64_t>{4, 5}, std::vector<std::int64_t>{1, 4},
                                        std::vector<std::int64_t>{1, 1}, "", routing));
  };
  const Body body = [](Mpi& mpi) {
    const int rank = mpi.rank();
    if (rank < 4) mpi.send(4 + 4 * rank, 16'384);
    if (rank >= 4 && rank % 4 == 0) mpi.recv(rank / 4 - 1, 16'384);
  };
  const auto fixed = run(with_buffers(tree(FatTree::Routing::DModK), 4), body).makespan;
  const auto adaptive = run(with_buffers(tree(FatTree::Routing::Adaptive), 4), body).makespan;
  EXPECT_GE(fixed, eager_time(16'384, 4) + 2 * bytes_time(16'384));
  EXPECT_LT(adaptive, eager_time(16'384, 4) + bytes_time(16'384) / 2);
}

}  // namespace
}  // namespace manynode::network::testing::flow_control_test
