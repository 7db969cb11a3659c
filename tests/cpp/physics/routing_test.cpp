// Adaptive against fixed routing under traffic made to hurt, and a torus with a link that is known to be hot.
#include <gtest/gtest.h>

#include "machines.hpp"

namespace manynode::network::testing::routing_test {
namespace {

constexpr std::uint64_t kBytes = 16'384;

// Every host sends `count` messages to the host `distance` further on.
Picoseconds shift(const RunConfig& config, int distance, int count = 4) {
  return run_pattern(config, {{"pattern", std::string("shift")},
                              {"distance", std::int64_t{distance}},
                              {"bytes", static_cast<std::int64_t>(kBytes)},
                              {"iterations", std::int64_t{count}}})
      .makespan;
}

std::string dragonfly(const std::string& routing) {
  return R"({"kind":"dragonfly","groups":9,"routers_per_group":4,"hosts_per_router":4,"local_links":1,)"
         R"("global_links":2,"routing":")" +
         routing + "\"}";
}

TEST(RoutingPhysics, DragonflyMinimalSuffersFromAGroupShiftAndTheOthersLess) {
  // All 16 hosts of a group send to the next group, to which one cable leads: 16 times the time of a message. Valiant
  // spreads over the 8 cables of the group (each used twice per message: about 4 times), UGAL is not far from it.
  const Picoseconds minimal = shift(machine(dragonfly("minimal")), 16);
  const Picoseconds valiant = shift(machine(dragonfly("valiant")), 16);
  const Picoseconds ugal = shift(machine(dragonfly("ugal")), 16);
  EXPECT_GE(minimal, 4 * 16 * bytes_time(kBytes));
  EXPECT_LT(valiant, minimal / 2);
  EXPECT_LT(ugal, minimal / 2);
}

TEST(RoutingPhysics, DragonflyUgalDoesNotLoseToMinimalWhereMinimalIsGood) {
  // To the neighbour, most of which are at the same router; then to a group some cables away.
  EXPECT_LE(shift(machine(dragonfly("ugal")), 1, 1), shift(machine(dragonfly("minimal")), 1, 1));
  const Picoseconds minimal = shift(machine(dragonfly("minimal")), 37);
  const Picoseconds valiant = shift(machine(dragonfly("valiant")), 37);
  const Picoseconds ugal = shift(machine(dragonfly("ugal")), 37);
  EXPECT_LT(ugal, 1.2 * static_cast<double>(std::min(minimal, valiant)));
}

TEST(RoutingPhysics, PaperDragonflyUnderAGroupShift) {
  const Picoseconds minimal = shift(machine(paper_dragonfly("minimal")), 18 * 24, 1);
  const Picoseconds ugal = shift(machine(paper_dragonfly("ugal")), 18 * 24, 1);
  EXPECT_LT(ugal, minimal);
}

TEST(RoutingPhysics, AdaptiveFatTreeEscapesTheCollisionsOfDModK) {
  // Hosts of one leaf send to destinations that are equal modulo the up-ports: D-mod-k sends all through one port.
  const auto program = [](Mpi& mpi) {
    const int rank = mpi.rank();
    if (rank < 4) mpi.send(4 + 4 * rank, kBytes);
    if (rank >= 4 && rank % 4 == 0 && rank < 20) mpi.recv((rank - 4) / 4, kBytes);
  };
  const std::string tree = R"({"kind":"fat-tree","children":[4,5],"parents":[1,4],"parallel_links":[1,1],"routing":")";
  const Picoseconds fixed = run(machine(tree + "d-mod-k\"}"), program).makespan;
  const Picoseconds adaptive = run(machine(tree + "adaptive\"}"), program).makespan;
  EXPECT_GE(fixed, 4 * bytes_time(kBytes));
  EXPECT_EQ(adaptive, eager_time(kBytes, 4));
}

TEST(RoutingPhysics, DimensionOrderMakesAKnownLinkOfATorusHot) {
  // Row y = 0 of an 8 x 8 torus (dimension 0 is numbered fastest): switches 0, 1, 2 send to the column of x = 3. All go
  // along the row first, so the link from 2 to 3 carries the three messages, from 1 to 2 two, from 0 to 1 one.
  auto config = machine(R"({"kind":"torus","shape":[8,8],"hosts_per_switch":1,"links_per_direction":1})");
  const auto result = run(config, [](Mpi& mpi) {
    for (int x = 0; x < 3; ++x) {
      const int target = 3 + 8 * (x + 1);
      if (mpi.rank() == x) mpi.send(target, kBytes);
      if (mpi.rank() == target) mpi.recv(x, kBytes);
    }
  });
  std::map<std::string, std::uint64_t> bytes;
  std::string hottest;
  for (LinkId link = 0; link < result.links.size(); ++link) {
    const auto ends = config.network.topology->describe(link);
    const std::string name = ends.source + " to " + ends.target;
    bytes[name] = result.links[link].bytes;
    if (hottest.empty() || bytes[name] > bytes[hottest]) hottest = name;
  }
  EXPECT_EQ(hottest, "router-2-0 to router-3-0");
  EXPECT_EQ(bytes["router-2-0 to router-3-0"], 3 * kBytes);
  EXPECT_EQ(bytes["router-1-0 to router-2-0"], 2 * kBytes);
  EXPECT_EQ(bytes["router-0-0 to router-1-0"], kBytes);
  // The three leave at the same time; the hot link sends all of their bytes, then the last chunk goes up the column.
  EXPECT_GE(result.makespan, 3 * bytes_time(kBytes));
}

}  // namespace
}  // namespace manynode::network::testing::routing_test
