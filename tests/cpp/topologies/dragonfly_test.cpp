#include "topologies/dragonfly.hpp"

#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network::dragonfly_test {
namespace {

using namespace testing;
using Routing = Dragonfly::Routing;

constexpr Dragonfly::Shape kPaper{5, 18, 24, 1, 7};
constexpr Picoseconds kLong = 1'000'000'000;  // a backlog of a millisecond

Dragonfly machine(const Dragonfly::Shape& shape, Routing routing = Routing::Minimal) {
  return Dragonfly(shape, routing, Dragonfly::kDefaultBias, "topology");
}

const Dragonfly& paper_machine() {
  static const Dragonfly dragonfly = machine(kPaper);
  return dragonfly;
}

// One group; two; the remainder of ports even, odd with an opposite group, odd without; parallel local links; one
// router.
const Dragonfly::Shape kSmall[] = {{1, 4, 2, 2, 0}, {2, 2, 3, 1, 2}, {3, 2, 2, 1, 1}, {5, 3, 2, 2, 2}, {4, 2, 2, 1, 2},
                                   {5, 5, 1, 1, 1}, {4, 1, 3, 1, 3}, {3, 3, 3, 1, 1}, {9, 4, 2, 1, 2}, {6, 7, 1, 1, 1}};

std::uint32_t group_of(const std::string& router) { return static_cast<std::uint32_t>(std::stoul(router.substr(7))); }

std::set<std::uint32_t> groups_on(const Dragonfly& dragonfly, const std::vector<LinkId>& links) {
  std::set<std::uint32_t> groups;
  for (std::size_t i = 1; i < links.size(); ++i) groups.insert(group_of(dragonfly.describe(links[i]).source));
  return groups;
}

std::map<std::pair<std::uint32_t, std::uint32_t>, int> cables_between_groups(const Dragonfly& dragonfly) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> cables;
  for (LinkId link = 0; link < dragonfly.links(); ++link) {
    if (dragonfly.link_class(link) != 3) continue;
    const auto description = dragonfly.describe(link);
    ++cables[{group_of(description.source), group_of(description.target)}];
  }
  return cables;
}

TEST(Dragonfly, CreatesThePaperMachine) {
  // 90 switches of 48 ports: 24 nodes, 17 cables in the group, 7 to other groups; 5 * 18 * 7 / 2 = 315 global cables.
  const Dragonfly& dragonfly = paper_machine();
  EXPECT_EQ(dragonfly.hosts(), 2160u);
  EXPECT_EQ(dragonfly.switches(), 90u);
  expect_links_agree(dragonfly);
  const auto ports = ports_of_switches(dragonfly);
  EXPECT_EQ(ports.size(), 90u);
  for (const auto& [name, count] : ports) EXPECT_EQ(count, 48u) << name;
  EXPECT_EQ(links_per_class(dragonfly),
            (std::map<std::string, std::uint64_t>{
                {"host-up", 2160}, {"host-down", 2160}, {"local", 90 * 17}, {"global", 2 * 315}}));
  for (const auto& [pair, count] : cables_between_groups(dragonfly)) {
    const std::uint32_t apart = (pair.first + 5 - pair.second) % 5;
    EXPECT_EQ(count, apart == 1 || apart == 4 ? 32 : 31) << pair.first << " and " << pair.second;
  }
}

TEST(Dragonfly, LinksOfSmallMachinesAgree) {
  for (const auto& shape : kSmall) expect_links_agree(machine(shape));
}

TEST(Dragonfly, GroupsHaveTheSameCablesAndUseAllPortsThatCanBeUsed) {
  for (std::int64_t groups = 2; groups <= 9; ++groups) {
    for (std::int64_t routers = 1; routers <= 6; ++routers) {
      for (std::int64_t links = 1; links <= 4; ++links) {
        if (groups - 1 > routers * links) continue;
        const Dragonfly dragonfly = machine({groups, routers, 1, 1, links});
        std::map<std::uint32_t, std::int64_t> ports;
        int least = 1 << 30;
        int most = 0;
        for (const auto& [pair, count] : cables_between_groups(dragonfly)) {
          EXPECT_NE(pair.first, pair.second);
          ports[pair.first] += count;
          least = std::min(least, count);
          most = std::max(most, count);
        }
        EXPECT_EQ(static_cast<std::int64_t>(ports.size()), groups);
        EXPECT_LE(most - least, 1);
        // One port stays free where an odd number of groups has an odd number of ports.
        const std::int64_t used = routers * links - (groups % 2 == 1 && routers * links % 2 == 1 ? 1 : 0);
        for (const auto& [group, count] : ports) EXPECT_EQ(count, used) << groups << " " << routers << " " << links;
        expect_links_agree(dragonfly);
      }
    }
  }
}

TEST(Dragonfly, EveryPairOfSmallMachinesIsRoutable) {
  for (const auto& shape : kSmall) {
    for (const auto routing : {Routing::Minimal, Routing::MinimalBySource, Routing::Valiant, Routing::Ugal}) {
      for (const std::uint64_t random : {0u, 12'345u}) expect_every_pair_routable(machine(shape, routing), random);
    }
  }
}

TEST(Dragonfly, RoutesUnderLoadAreConsistent) {
  for (const auto& shape : kSmall) {
    const Dragonfly dragonfly = machine(shape, Routing::Ugal);
    Loads loads(dragonfly);
    for (LinkId link = 0; link < dragonfly.links(); ++link) loads.set(link, link * 7919 % 97 * kLong);
    for (std::uint32_t source = 0; source < dragonfly.hosts(); ++source) {
      for (std::uint32_t destination = 0; destination < dragonfly.hosts(); ++destination) {
        if (source != destination)
          expect_consistent(dragonfly, {source, destination, source + 31 * destination}, loads);
      }
    }
  }
}

TEST(Dragonfly, MinimalRoutesStayInTheTwoGroups) {
  const Loads idle(paper_machine());
  for (std::uint32_t source = 0; source < 2160; source += 41) {
    for (std::uint32_t destination = 1; destination < 2160; destination += 37) {
      if (source == destination) continue;
      const auto links = route(paper_machine(), {source, destination}, idle);
      EXPECT_LE(links.size(), 5u);
      EXPECT_EQ(groups_on(paper_machine(), links), (std::set<std::uint32_t>{source / 432, destination / 432}));
    }
  }
}

TEST(Dragonfly, TheSourceSelectsTheCableAsInMerlin) {
  // Groups of 3 * 6 ports have two cables to each of the 8 others, and one more to some, which merlin lacks.
  const Dragonfly dragonfly = machine({9, 3, 3, 2, 6}, Routing::MinimalBySource);
  const Loads idle(dragonfly);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<LinkId>> cables;  // by source and group of destination
  std::set<LinkId> all;
  for (std::uint32_t source = 0; source < dragonfly.hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < dragonfly.hosts(); ++destination) {
      if (source / 9 == destination / 9) continue;
      for (const LinkId link : route(dragonfly, {source, destination}, idle)) {
        if (dragonfly.link_class(link) != 3) continue;
        cables[{source, destination / 9}].insert(link);
        all.insert(link);
      }
    }
  }
  EXPECT_EQ(cables.size(), 81u * 8);
  for (const auto& [ends, links] : cables) EXPECT_EQ(links.size(), 1u) << ends.first << " to group " << ends.second;
  EXPECT_NE(*cables.at({0, 1}).begin(), *cables.at({1, 1}).begin());
  EXPECT_EQ(*cables.at({0, 1}).begin(), *cables.at({2, 1}).begin());
  EXPECT_EQ(all.size(), 9u * 8 * 2);
}

TEST(Dragonfly, UniformTrafficLoadsTheGlobalCablesOfThePaperMachineEvenly) {
  // 432 * 432 pairs between two groups over 31 or 32 cables.
  const auto uses = uniform_traffic(paper_machine());
  const Range global = range_of_class(paper_machine(), uses, "global");
  EXPECT_GE(static_cast<double>(global.least), 0.97 * 432 * 432 / 32);
  EXPECT_LE(static_cast<double>(global.most), 1.03 * 432 * 432 / 31);
  const Range local = range_of_class(paper_machine(), uses, "local");
  EXPECT_LE(static_cast<double>(local.most), 1.6 * static_cast<double>(local.least));
}

TEST(Dragonfly, AShiftByAGroupUsesAllItsCablesEvenly) {
  std::map<LinkId, int> flows;
  const Loads idle(paper_machine());
  for (std::uint32_t i = 0; i < 432; ++i) {
    for (const LinkId link : route(paper_machine(), {i, i + 432}, idle)) {
      if (paper_machine().link_class(link) == 3) ++flows[link];
    }
  }
  EXPECT_EQ(flows.size(), 32u);
  for (const auto& [link, count] : flows) {
    EXPECT_GE(count, 12) << link;
    EXPECT_LE(count, 15) << link;
  }
}

TEST(Dragonfly, ParallelLocalLinksAreUsedEvenly) {
  const Dragonfly dragonfly = machine({4, 4, 4, 2, 3});
  const Range local = range_of_class(dragonfly, uniform_traffic(dragonfly), "local");
  EXPECT_LE(local.most, 2 * local.least);
}

TEST(Dragonfly, ValiantGoesOverAThirdGroupAndAllOfThem) {
  const Dragonfly dragonfly = machine(kPaper, Routing::Valiant);
  const Loads idle(dragonfly);
  std::map<std::uint32_t, int> over;
  std::set<LinkId> first_cables;
  constexpr int kChunks = 3000;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto links = route(dragonfly, {5, 432 * 3 + 17, static_cast<std::uint64_t>(chunk) * 0x9e3779b9u}, idle);
    auto groups = groups_on(dragonfly, links);
    ASSERT_EQ(groups.size(), 3u);
    groups.erase(0);
    groups.erase(3);
    ++over[*groups.begin()];
    for (const LinkId link : links) {
      if (dragonfly.link_class(link) == 3 && group_of(dragonfly.describe(link).source) == 0) first_cables.insert(link);
    }
  }
  EXPECT_EQ(over.size(), 3u);
  // A third each, within four standard deviations of sqrt(3000 * 1/3 * 2/3) = 26.
  for (const auto& [group, count] : over) EXPECT_NEAR(count, kChunks / 3, 4 * 26) << group;
  EXPECT_EQ(first_cables.size(), 32u + 31 + 32);  // all that lead to groups 1, 2 and 4
}

TEST(Dragonfly, ValiantWithinAGroupGoesOverAThirdRouter) {
  const Dragonfly dragonfly = machine(kPaper, Routing::Valiant);
  const Loads idle(dragonfly);
  std::set<std::string> over;
  for (std::uint64_t chunk = 0; chunk < 500; ++chunk) {
    const auto links = route(dragonfly, {0, 24, chunk}, idle);
    ASSERT_EQ(links.size(), 4u);
    over.insert(dragonfly.describe(links[2]).source);
  }
  EXPECT_EQ(over.size(), 16u);
}

TEST(Dragonfly, UgalIsMinimalOnAnIdleMachine) {
  const Dragonfly dragonfly = machine(kPaper, Routing::Ugal);
  const Loads idle(dragonfly);
  for (std::uint32_t source = 0; source < 2160; source += 41) {
    for (std::uint32_t destination = 1; destination < 2160; destination += 37) {
      if (source == destination) continue;
      const auto links = route(dragonfly, {source, destination, source * 31 + destination}, idle);
      EXPECT_LE(links.size(), 5u);
      EXPECT_EQ(groups_on(dragonfly, links), (std::set<std::uint32_t>{source / 432, destination / 432}));
    }
  }
}

TEST(Dragonfly, UgalLeavesCablesWithALongBacklog) {
  // Every cable from group 0 to group 1 is loaded: its routers send chunks over other groups, also those that see the
  // load only after a local link.
  const Dragonfly dragonfly = machine(kPaper, Routing::Ugal);
  Loads loads(dragonfly);
  for (LinkId link = 0; link < dragonfly.links(); ++link) {
    if (dragonfly.link_class(link) != 3) continue;
    const auto [source, target] = dragonfly.describe(link);
    if (group_of(source) == 0 && group_of(target) == 1) loads.set(link, kLong);
  }
  for (std::uint64_t chunk = 0; chunk < 500; ++chunk) {
    const auto links = route(dragonfly, {static_cast<std::uint32_t>(chunk % 432), 432 + 10, chunk}, loads);
    EXPECT_EQ(groups_on(dragonfly, links).size(), 3u) << chunk;
  }
}

TEST(Dragonfly, UgalStaysMinimalForABacklogBelowTheBias) {
  const Dragonfly dragonfly = machine(kPaper, Routing::Ugal);
  Loads loads(dragonfly);
  // At most 3 links remain at the source router: 3 * 60 ns is below 200 ns.
  for (LinkId link = 0; link < dragonfly.links(); ++link) {
    const auto [source, target] = dragonfly.describe(link);
    if (dragonfly.link_class(link) == 3 && group_of(target) == 1) loads.set(link, 60'000);
  }
  for (std::uint64_t chunk = 0; chunk < 200; ++chunk) {
    EXPECT_EQ(groups_on(dragonfly, route(dragonfly, {7, 432 + 10, chunk}, loads)).size(), 2u);
  }
}

TEST(Dragonfly, UgalStaysMinimalWhenTheDetourIsAsLoaded) {
  const Dragonfly dragonfly = machine(kPaper, Routing::Ugal);
  Loads loads(dragonfly);
  for (LinkId link = 0; link < dragonfly.links(); ++link) loads.set(link, kLong);
  // The minimal route has at most as many links to go, so it costs no more.
  for (std::uint64_t chunk = 0; chunk < 200; ++chunk) {
    EXPECT_EQ(groups_on(dragonfly, route(dragonfly, {7, 432 + 10, chunk}, loads)).size(), 2u);
  }
}

TEST(Dragonfly, UgalWithinAGroupLeavesALoadedLink) {
  const Dragonfly dragonfly = machine(kPaper, Routing::Ugal);
  Loads loads(dragonfly);
  const LinkId direct = route(dragonfly, {0, 24, 0}, loads)[1];
  EXPECT_EQ(dragonfly.describe(direct).target, "router-0-1");
  loads.set(direct, kLong);
  for (std::uint64_t chunk = 0; chunk < 100; ++chunk) {
    const auto links = route(dragonfly, {0, 24, chunk}, loads);
    EXPECT_EQ(links.size(), 4u);
    EXPECT_NE(links[1], direct);
  }
}

TEST(Dragonfly, UgalTakesTheIdleOneOfParallelLocalLinks) {
  const Dragonfly dragonfly = machine({1, 4, 2, 3, 0}, Routing::Ugal);
  Loads loads(dragonfly);
  const auto first = route(dragonfly, {0, 2, 0}, loads)[1];
  loads.set(first, kLong);
  for (std::uint64_t chunk = 0; chunk < 50; ++chunk) {
    const auto links = route(dragonfly, {0, 2, chunk}, loads);
    EXPECT_EQ(links.size(), 3u);
    EXPECT_NE(links[1], first);
  }
}

TEST(Dragonfly, RoutesOfAChunkAreTheSameInEveryRun) {
  for (const auto routing : {Routing::Valiant, Routing::Ugal}) {
    const Dragonfly one = machine(kPaper, routing);
    const Dragonfly other = machine(kPaper, routing);
    const Loads idle(one);
    for (std::uint64_t chunk = 0; chunk < 50; ++chunk) {
      EXPECT_EQ(route(one, {3, 2000, chunk}, idle), route(other, {3, 2000, chunk}, idle));
    }
  }
}

TEST(Dragonfly, TheLeastCutBetweenTheHalves) {
  // Two of four groups on each side: 4 pairs of groups with 2 cables each.
  EXPECT_EQ(least_cut(machine({4, 3, 8, 1, 2})), 4u * 2);
}

TEST(Dragonfly, TheLeastCutOfThePaperMachineCutsTheGroupInTheMiddle) {
  // Groups 0, 1 against 3, 4: three pairs are two apart (31 cables), 0 and 4 are neighbours (32). Group 2: each half of
  // its routers has 32 cables to the groups of the other side, and there are 9 * 9 cables between the two.
  EXPECT_EQ(least_cut(paper_machine()), 3u * 31 + 32 + 2 * 32 + 81);
}

}  // namespace
}  // namespace manynode::network::dragonfly_test
