// Which of a node's NICs a message takes: by message, by direction.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "small_machine.hpp"

namespace manynode::network::testing {
namespace {

constexpr std::uint64_t kBytes = 8000;
constexpr Picoseconds kTransfer = bytes_time(kBytes);

// A ring of four switches, each with the two NICs of one node.
RunConfig ring(RailChoice choice) {
  auto config = small_machine();
  config.network.topology = make_topology(
      nlohmann::json{{"kind", "torus"}, {"shape", {4}}, {"hosts_per_switch", 2}, {"links_per_direction", 1}},
      "topology");
  config.network.host.rails = 2;
  config.network.host.rail_choice = choice;
  config.jobs[0].nodes = 4;
  return config;
}

// Node 0 sends a message to each of two nodes, one after the other.
Picoseconds two_messages(RailChoice choice, int first, int second) {
  return run(ring(choice),
             [=](Mpi& mpi) {
               if (mpi.rank() == 0) {
                 mpi.send(first, kBytes, 0);
                 mpi.send(second, kBytes, 1);
               }
               if (mpi.rank() == first) mpi.recv(0, kBytes, 0);
               if (mpi.rank() == second) mpi.recv(0, kBytes, 1);
             })
      .makespan;
}

// The second message waits for the first in their common NIC, or only for the processor.
constexpr Picoseconds kSameNic = kTransfer + eager_time(kBytes, 3);
constexpr Picoseconds kOwnNic = kOverheadSend + eager_time(kBytes, 3);

TEST(RailChoice, ByRankAllMessagesOfARankTakeOneNic) {
  EXPECT_EQ(two_messages(RailChoice::ByRank, 1, 3), kSameNic);
  EXPECT_EQ(two_messages(RailChoice::ByRank, 1, 1), kSameNic);
}

TEST(RailChoice, ByMessageTheNicsTakeTurns) {
  EXPECT_EQ(two_messages(RailChoice::ByMessage, 1, 3), kOwnNic);
  // The link between the switches still carries both.
  EXPECT_EQ(two_messages(RailChoice::ByMessage, 1, 1), kSameNic);
}

TEST(RailChoice, ByDirectionTheWayRoundTheRingChoosesTheNic) {
  EXPECT_EQ(two_messages(RailChoice::ByDirection, 1, 3), kOwnNic);
  EXPECT_EQ(two_messages(RailChoice::ByDirection, 1, 1), kSameNic);
  EXPECT_EQ(two_messages(RailChoice::ByDirection, 3, 3), kSameNic);
}

TEST(RailChoice, ByDirectionMessagesHalfARingAwayGoBothWays) {
  const auto result = run(ring(RailChoice::ByDirection), [](Mpi& mpi) {
    const int to = (mpi.rank() + 2) % 4;
    const auto received = mpi.irecv(to, kBytes);
    const auto sent = mpi.isend(to, kBytes);
    mpi.wait(received);
    mpi.wait(sent);
  });
  std::map<std::string, std::uint64_t> bytes;
  const auto topology = ring(RailChoice::ByDirection).network.topology;
  for (LinkId link = 16; link < topology->links(); ++link) {
    bytes[topology->link_classes()[topology->link_class(link)]] += result.links[link].bytes;
  }
  EXPECT_EQ(bytes["dim0-plus"], 4 * kBytes);
  EXPECT_EQ(bytes["dim0-minus"], 4 * kBytes);
}

TEST(RailChoice, ByMessageAShortMessageDoesNotOvertakeALongOne) {
  // A receive that meets a longer message is an error: the engine checks the order.
  const auto result = run(ring(RailChoice::ByMessage), [](Mpi& mpi) {
    for (const std::uint64_t bytes : {std::uint64_t{16'000}, std::uint64_t{8}, std::uint64_t{12'000}}) {
      if (mpi.rank() == 0) mpi.send(1, bytes);
      if (mpi.rank() == 1) mpi.recv(0, bytes);
    }
  });
  EXPECT_EQ(result.jobs[0].messages, 3u);
}

}  // namespace
}  // namespace manynode::network::testing
