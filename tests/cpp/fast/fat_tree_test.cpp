#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "manynode/error_report.hpp"
#include "topologies/fat_tree.hpp"

namespace manynode::fast {
namespace {

const FatTree& paper_machine() {
  static const FatTree tree({24, 24, 4}, {1, 24, 2}, {1, 1, 12}, "topology");
  return tree;
}

std::vector<LinkId> route(const FatTree& tree, std::uint32_t source, std::uint32_t destination) {
  std::vector<LinkId> links(tree.max_hops());
  links.resize(tree.route(source, destination, links.data()));
  return links;
}

// Starts and ends at the hosts, each link begins where the one before ended, no link twice.
void expect_consistent(const FatTree& tree, std::uint32_t source, std::uint32_t destination) {
  std::string at = "host-" + std::to_string(source);
  std::set<LinkId> seen;
  for (const LinkId link : route(tree, source, destination)) {
    ASSERT_LT(link, tree.links());
    const auto description = tree.describe(link);
    ASSERT_EQ(description.source, at) << source << " to " << destination;
    at = description.target;
    ASSERT_TRUE(seen.insert(link).second);
  }
  ASSERT_EQ(at, "host-" + std::to_string(destination));
}

TEST(FatTree, CreatesThePaperMachine) {
  // 48-port switches: 96 leaves with 24 hosts, 96 switches above them, 48 roots.
  const FatTree& tree = paper_machine();
  EXPECT_EQ(tree.hosts(), 24u * 24 * 4);
  EXPECT_EQ(tree.switches(), 96u + 96 + 48);
  EXPECT_EQ(tree.links(), 2u * 3 * 2304);  // as many cables between any two levels as there are hosts
  std::map<std::string, int> ports;
  std::map<std::string, int> classes;
  for (LinkId link = 0; link < tree.links(); ++link) {
    const auto description = tree.describe(link);
    ++ports[description.source];
    ++classes[description.link_class];
  }
  EXPECT_EQ(ports.size(), 2304u + 240);
  for (const auto& [name, count] : ports) EXPECT_EQ(count, name.rfind("host", 0) == 0 ? 1 : 48) << name;
  EXPECT_EQ(classes, (std::map<std::string, int>{{"host-up", 2304},
                                                 {"host-down", 2304},
                                                 {"leaf-up", 2304},
                                                 {"leaf-down", 2304},
                                                 {"level2-up", 2304},
                                                 {"level2-down", 2304}}));
}

TEST(FatTree, RouteLengthsFollowTheNearestCommonLevel) {
  EXPECT_EQ(route(paper_machine(), 0, 23).size(), 2u);
  EXPECT_EQ(route(paper_machine(), 0, 24).size(), 4u);
  EXPECT_EQ(route(paper_machine(), 0, 575).size(), 4u);
  EXPECT_EQ(route(paper_machine(), 0, 576).size(), 6u);
  EXPECT_EQ(route(paper_machine(), 2303, 0).size(), 6u);
}

TEST(FatTree, EveryPairOfSmallTreesIsRoutable) {
  const FatTree trees[] = {FatTree({4}, {1}, {1}, ""), FatTree({2, 3}, {1, 2}, {1, 1}, ""),
                           FatTree({3, 2, 4}, {1, 3, 2}, {1, 2, 3}, ""), FatTree({2, 2, 3}, {2, 3, 2}, {2, 1, 2}, ""),
                           FatTree({4, 4, 2, 2}, {1, 2, 1, 3}, {1, 1, 2, 1}, "")};
  for (const auto& tree : trees) {
    for (std::uint32_t source = 0; source < tree.hosts(); ++source) {
      for (std::uint32_t destination = 0; destination < tree.hosts(); ++destination) {
        if (source != destination) expect_consistent(tree, source, destination);
      }
    }
  }
}

TEST(FatTree, PairsOfThePaperMachineAreRoutable) {
  for (std::uint32_t source = 0; source < 2304; source += 37) {
    for (std::uint32_t destination = 1; destination < 2304; destination += 41) {
      if (source != destination) expect_consistent(paper_machine(), source, destination);
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

TEST(FatTree, RefusesListsOfDifferentLengths) { EXPECT_THROW(FatTree({2, 2}, {1}, {1, 1}, "t"), UserError); }

TEST(FatTree, RefusesTreesThatDoNotFit31Bits) {
  EXPECT_THROW(FatTree({65'536, 65'536}, {1, 1}, {1, 1}, "t"), UserError);
  EXPECT_THROW(FatTree({65'536}, {65'536}, {1}, "t"), UserError);
}

}  // namespace
}  // namespace manynode::fast
