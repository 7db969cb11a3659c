#include "topologies/fat_tree.hpp"

#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network::fat_tree_test {
namespace {

using namespace testing;
using Routing = FatTree::Routing;

constexpr Picoseconds kLong = 1'000'000'000;  // a backlog of a millisecond

const FatTree& paper_machine() {
  static const FatTree tree({24, 24, 4}, {1, 24, 2}, {1, 1, 12}, "topology");
  return tree;
}

std::vector<FatTree> small_trees(Routing routing = Routing::DModK) {
  return {FatTree({4}, {1}, {1}, "", routing),
          FatTree({4}, {2}, {2}, "", routing),
          FatTree({2, 3}, {1, 2}, {1, 1}, "", routing),
          FatTree({3, 2, 4}, {1, 3, 2}, {1, 2, 3}, "", routing),
          FatTree({2, 2, 3}, {2, 3, 2}, {2, 1, 2}, "", routing),
          FatTree({4, 4, 2, 2}, {1, 2, 1, 3}, {1, 1, 2, 1}, "", routing)};
}

std::vector<LinkId> route(const FatTree& tree, std::uint32_t source, std::uint32_t destination) {
  return testing::route(tree, {source, destination}, Loads());
}

TEST(FatTree, CreatesThePaperMachine) {
  // 48-port switches: 96 leaves with 24 hosts, 96 switches above them, 48 roots.
  const FatTree& tree = paper_machine();
  EXPECT_EQ(tree.hosts(), 24u * 24 * 4);
  EXPECT_EQ(tree.switches(), 96u + 96 + 48);
  EXPECT_EQ(tree.links(), 2u * 3 * 2304);  // as many cables between any two levels as there are hosts
  expect_links_agree(tree);
  const auto ports = ports_of_switches(tree);
  EXPECT_EQ(ports.size(), 240u);
  for (const auto& [name, count] : ports) EXPECT_EQ(count, 48u) << name;
  EXPECT_EQ(links_per_class(tree), (std::map<std::string, std::uint64_t>{{"host-up", 2304},
                                                                         {"host-down", 2304},
                                                                         {"leaf-up", 2304},
                                                                         {"leaf-down", 2304},
                                                                         {"level2-up", 2304},
                                                                         {"level2-down", 2304}}));
  EXPECT_EQ(least_cut(tree), 2304u / 2);
}

TEST(FatTree, LinksOfSmallTreesAgree) {
  for (const auto& tree : small_trees()) expect_links_agree(tree);
}

TEST(FatTree, RouteLengthsFollowTheNearestCommonLevel) {
  EXPECT_EQ(route(paper_machine(), 0, 23).size(), 2u);
  EXPECT_EQ(route(paper_machine(), 0, 24).size(), 4u);
  EXPECT_EQ(route(paper_machine(), 0, 575).size(), 4u);
  EXPECT_EQ(route(paper_machine(), 0, 576).size(), 6u);
  EXPECT_EQ(route(paper_machine(), 2303, 0).size(), 6u);
}

TEST(FatTree, EveryPairOfSmallTreesIsRoutable) {
  for (const auto routing : {Routing::DModK, Routing::Adaptive}) {
    for (const auto& tree : small_trees(routing)) expect_every_pair_routable(tree);
  }
}

TEST(FatTree, AdaptiveRoutesUnderLoadAreConsistentAndAsShort) {
  for (const auto& tree : small_trees(Routing::Adaptive)) {
    Loads loads(tree);
    for (LinkId link = 0; link < tree.links(); ++link) loads.set(link, link * 7919 % 97 * kLong);
    for (std::uint32_t source = 0; source < tree.hosts(); ++source) {
      for (std::uint32_t destination = 0; destination < tree.hosts(); ++destination) {
        if (source == destination) continue;
        const RouteRequest request{source, destination, source * 31 + destination};
        expect_consistent(tree, request, loads);
        EXPECT_EQ(testing::route(tree, request, loads).size(), testing::route(tree, request, Loads(tree)).size());
      }
    }
  }
}

TEST(FatTree, PairsOfThePaperMachineAreRoutable) {
  const Loads idle(paper_machine());
  for (std::uint32_t source = 0; source < 2304; source += 37) {
    for (std::uint32_t destination = 1; destination < 2304; destination += 41) {
      if (source != destination) expect_consistent(paper_machine(), {source, destination}, idle);
    }
  }
}

TEST(FatTree, DModKSpreadsDestinationsEvenlyOverTheUpLinks) {
  std::map<LinkId, int> destinations;
  for (std::uint32_t destination = 24; destination < 2304; ++destination) {
    ++destinations[route(paper_machine(), 0, destination)[1]];
  }
  EXPECT_EQ(destinations.size(), 24u);
  for (const auto& [link, count] : destinations) EXPECT_EQ(count, (2304 - 24) / 24) << link;
}

TEST(FatTree, DModKUsesEveryLinkOnceForAShift) {
  // Non-blocking for shift permutations: no link carries two of the flows i -> i + shift.
  for (const std::uint32_t shift : {1u, 24u, 100u, 576u, 1152u, 2303u}) {
    std::set<LinkId> used;
    for (std::uint32_t source = 0; source < 2304; ++source) {
      for (const LinkId link : route(paper_machine(), source, (source + shift) % 2304)) {
        EXPECT_TRUE(used.insert(link).second) << shift << ": " << paper_machine().describe(link).source;
      }
    }
  }
}

TEST(FatTree, AllTrafficToAHostComesThroughOneLink) {
  std::set<LinkId> last;
  for (std::uint32_t source = 1; source < 2304; ++source) last.insert(route(paper_machine(), source, 0).back());
  EXPECT_EQ(last.size(), 1u);
}

const FatTree& adaptive_machine() {
  static const FatTree tree({24, 24, 4}, {1, 24, 2}, {1, 1, 12}, "topology", Routing::Adaptive);
  return tree;
}

TEST(FatTree, AdaptiveRoutesTakeTheLeastLoadedUpPort) {
  // All up-ports of the leaf are loaded, one a little less.
  Loads loads(adaptive_machine());
  std::vector<LinkId> ports;
  for (LinkId link = 0; link < adaptive_machine().links(); ++link) {
    if (adaptive_machine().describe(link).source == "leaf-0" && adaptive_machine().host_behind(link) == kNoHost) {
      ports.push_back(link);
      loads.set(link, kLong);
    }
  }
  ASSERT_EQ(ports.size(), 24u);
  for (const LinkId free : ports) {
    loads.set(free, kLong - 1);
    EXPECT_EQ(testing::route(adaptive_machine(), {0, 2303, free}, loads)[1], free);
    loads.set(free, kLong);
  }
}

TEST(FatTree, AdaptiveRoutesSpreadOverIdlePorts) {
  // 24 leaf ports, 24 ports of the second level, 12 parallel links down: each within four standard deviations.
  const Loads idle(adaptive_machine());
  std::map<LinkId, int> chosen[3];
  constexpr int kChunks = 24'000;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto links =
        testing::route(adaptive_machine(), {0, 2303, static_cast<std::uint64_t>(chunk) * 0x9e3779b9u}, idle);
    for (const std::size_t hop : {1, 2, 3}) ++chosen[hop - 1][links[hop]];
  }
  EXPECT_EQ(chosen[0].size(), 24u);
  for (const auto& [link, count] : chosen[0]) EXPECT_NEAR(count, kChunks / 24, 4 * 31) << link;
  EXPECT_EQ(chosen[1].size(), 24u * 24);
  EXPECT_EQ(chosen[2].size(), 48u * 12);
}

TEST(FatTree, AdaptiveRoutesTakeTheIdleOneOfParallelLinksDown) {
  const FatTree tree({2, 2}, {1, 1}, {1, 3}, "", Routing::Adaptive);
  Loads loads(tree);
  std::vector<LinkId> down;
  for (LinkId link = 0; link < tree.links(); ++link) {
    if (tree.describe(link).source == "level2-0" && tree.describe(link).target == "leaf-1") down.push_back(link);
  }
  ASSERT_EQ(down.size(), 3u);
  for (const LinkId link : down) loads.set(link, kLong);
  for (const LinkId free : down) {
    loads.set(free, 0);
    for (std::uint64_t chunk = 0; chunk < 20; ++chunk) {
      EXPECT_EQ(testing::route(tree, {0, 3, chunk}, loads)[2], free);
    }
    loads.set(free, kLong);
  }
}

TEST(FatTree, AdaptiveRoutesStopWhereTheLoadIsNotYetSeen) {
  // At the source, nothing beyond the leaf is chosen; the leaf chooses one link.
  const Loads idle(adaptive_machine());
  std::vector<LinkId> out(adaptive_machine().max_hops());
  EXPECT_EQ(adaptive_machine().extend({0, 2303, 1}, 0, out.data(), idle.view()), 1u);
  EXPECT_EQ(adaptive_machine().extend({0, 2303, 1}, 1, out.data(), idle.view()), 2u);
  // A neighbour on the same leaf needs no choice.
  EXPECT_EQ(adaptive_machine().extend({0, 1, 1}, 0, out.data(), idle.view()), 2u);
}

TEST(FatTree, TheLeastCutBetweenTheHalves) {
  // Tapered below the top: 4 leaves of 4 hosts with 2 links up, a second level with as many links as its leaves have
  // hosts.
  const FatTree tapered({4, 2, 2}, {1, 2, 2}, {1, 1, 2}, "");
  EXPECT_EQ(least_cut(tapered), 2u * 2);
  // An odd number of subtrees: the one in the middle is divided.
  const FatTree odd({6, 3}, {1, 2}, {1, 1}, "");
  EXPECT_EQ(least_cut(odd), 5u);
  const FatTree odd_top({2, 3, 3}, {1, 1, 2}, {1, 2, 1}, "");
  EXPECT_EQ(least_cut(odd_top), 5u);
}

TEST(FatTree, RefusesTreesOfMoreThan127Levels) {
  const std::vector<std::int64_t> ones(127, 1);
  EXPECT_NO_THROW(FatTree(ones, ones, ones, "t"));
  const std::vector<std::int64_t> more(128, 1);
  EXPECT_THROW(FatTree(more, more, more, "t"), UserError);
}

TEST(FatTree, RefusesListsOfDifferentLengths) { EXPECT_THROW(FatTree({2, 2}, {1}, {1, 1}, "t"), UserError); }

TEST(FatTree, RefusesTreesThatDoNotFit31Bits) {
  EXPECT_THROW(FatTree({65'536, 65'536}, {1, 1}, {1, 1}, "t"), UserError);
  EXPECT_THROW(FatTree({65'536}, {65'536}, {1}, "t"), UserError);
}

}  // namespace
}  // namespace manynode::network::fat_tree_test
