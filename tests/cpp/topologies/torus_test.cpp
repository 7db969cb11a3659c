#include "topologies/torus.hpp"

#include <cstdlib>

#include "manynode/error_report.hpp"
#include "topology_checks.hpp"

namespace manynode::network::torus_test {
namespace {

using namespace testing;

const Torus& paper_machine() {
  static const Torus torus({5, 5, 4}, 24, 4, "topology");
  return torus;
}

std::vector<Torus> small_machines() {
  return {Torus({1}, 3, 1, ""),         Torus({2}, 2, 1, ""),       Torus({5}, 1, 2, ""),
          Torus({6}, 2, 3, ""),         Torus({3, 4}, 2, 1, ""),    Torus({4, 3}, 3, 2, ""),
          Torus({2, 2, 2}, 2, 2, ""),   Torus({3, 3, 3}, 3, 1, ""), Torus({4, 1, 2}, 2, 2, ""),
          Torus({2, 3, 2, 2}, 1, 1, "")};
}

TEST(Torus, CreatesThePaperMachine) {
  // 100 switches of 48 ports: 24 nodes, and 4 cables in each of 6 directions.
  const Torus& torus = paper_machine();
  EXPECT_EQ(torus.hosts(), 2400u);
  EXPECT_EQ(torus.switches(), 100u);
  expect_links_agree(torus);
  const auto ports = ports_of_switches(torus);
  EXPECT_EQ(ports.size(), 100u);
  for (const auto& [name, count] : ports) EXPECT_EQ(count, 48u) << name;
  EXPECT_EQ(links_per_class(torus), (std::map<std::string, std::uint64_t>{{"host-up", 2400},
                                                                          {"host-down", 2400},
                                                                          {"dim0-plus", 400},
                                                                          {"dim0-minus", 400},
                                                                          {"dim1-plus", 400},
                                                                          {"dim1-minus", 400},
                                                                          {"dim2-plus", 400},
                                                                          {"dim2-minus", 400}}));
  EXPECT_EQ(torus.max_hops(), 2u + 2 + 2 + 2);
  EXPECT_EQ(least_cut(torus), 2u * 4 * 25);
}

TEST(Torus, LinksOfSmallMachinesAgree) {
  for (const auto& torus : small_machines()) expect_links_agree(torus);
}

TEST(Torus, EveryPairOfSmallMachinesIsRoutable) {
  for (const auto& torus : small_machines()) expect_every_pair_routable(torus);
}

TEST(Torus, RoutesAreAsShortAsTheRingsAllow) {
  const Torus torus({5, 4, 3}, 2, 3, "");
  const Loads idle(torus);
  const int sizes[] = {5, 4, 3};
  for (std::uint32_t source = 0; source < torus.hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < torus.hosts(); ++destination) {
      if (source == destination) continue;
      int from = static_cast<int>(source) / 2;
      int to = static_cast<int>(destination) / 2;
      std::size_t expected = 2;
      for (const int size : sizes) {
        const int apart = std::abs(from % size - to % size);
        expected += static_cast<std::size_t>(std::min(apart, size - apart));
        from /= size;
        to /= size;
      }
      ASSERT_EQ(route(torus, {source, destination}, idle).size(), expected) << source << " to " << destination;
    }
  }
}

TEST(Torus, RoutesTakeTheDimensionsInOrder) {
  const Loads idle(paper_machine());
  for (std::uint32_t destination = 1; destination < 2400; destination += 7) {
    std::uint8_t before = 0;
    auto links = route(paper_machine(), {0, destination}, idle);
    links.pop_back();
    for (const LinkId link : links) {
      const std::uint8_t dimension = paper_machine().link_class(link) / 2;
      EXPECT_GE(dimension, before);
      before = dimension;
    }
  }
}

TEST(Torus, TwoSwitchesOfADimensionShareTheCablesOfBothDirections) {
  const Torus torus({2}, 1, 3, "");
  std::map<std::string, int> targets;
  for (LinkId link = 2; link < torus.links(); ++link) {
    if (torus.describe(link).source == "router-0") ++targets[torus.describe(link).target];
  }
  EXPECT_EQ(targets, (std::map<std::string, int>{{"host-0", 1}, {"router-1", 6}}));
}

TEST(Torus, UniformTrafficLoadsAllLinksOfADimensionEqually) {
  const Torus torus({5, 5, 4}, 8, 4, "topology");  // the paper machine, with a third of its hosts
  const auto uses = uniform_traffic(torus);
  // Rings of 5: each source reaches 2 switches one link and 2 two links away, 3 links in each direction. Rings of 4:
  // two one link away, one two links away, so 2 in each direction on the average.
  const auto expected = [](int size, int links_each_way) { return 800u * 800u / size * links_each_way / 400u; };
  for (const auto* name : {"dim0-plus", "dim0-minus", "dim1-plus", "dim1-minus"}) {
    const Range range = range_of_class(torus, uses, name);
    EXPECT_EQ(range.least, expected(5, 3)) << name;
    EXPECT_EQ(range.most, expected(5, 3)) << name;
  }
  for (const auto* name : {"dim2-plus", "dim2-minus"}) {
    const Range range = range_of_class(torus, uses, name);
    EXPECT_EQ(range.least, expected(4, 2)) << name;
    EXPECT_EQ(range.most, expected(4, 2)) << name;
  }
}

TEST(Torus, UniformTrafficIsBalancedWithOneHostPerSwitch) {
  const Torus torus({8, 4, 6}, 1, 4, "");
  const auto uses = uniform_traffic(torus);
  for (const auto& name : torus.link_classes()) {
    const Range range = range_of_class(torus, uses, name);
    EXPECT_LE(static_cast<double>(range.most), 1.15 * static_cast<double>(range.least)) << name;
  }
}

TEST(Torus, HalfOfThePairsHalfARingApartGoEachWay) {
  // All hosts of switch 0 send to their counterparts two switches on: 24 flows over 2 * 4 cables.
  const Torus torus({4, 4}, 24, 4, "");
  const Loads idle(torus);
  std::map<LinkId, int> flows;
  for (std::uint32_t i = 0; i < 24; ++i) ++flows[route(torus, {i, 2 * 24 + i}, idle)[1]];
  EXPECT_EQ(flows.size(), 8u);
  for (const auto& [link, count] : flows) EXPECT_EQ(count, 3) << link;
}

TEST(Torus, PlusRoutingGoesUpHalfARingAndTakesTheCableOfTheSwitchesToGo) {
  const Torus torus({4, 3}, 2, 2, "", false);
  expect_every_pair_routable(torus);
  const Loads idle(torus);
  for (std::uint32_t from = 0; from < 4; ++from) {
    // Two switches on: first over cable 2 % 2, then over cable 1 % 2, whoever sends.
    const auto links = route(torus, {2 * from, 2 * ((from + 2) % 4) + 1}, idle);
    ASSERT_EQ(links.size(), 4u);
    EXPECT_EQ(torus.link_classes()[torus.link_class(links[1])], "dim0-plus");
    EXPECT_EQ(torus.link_classes()[torus.link_class(links[2])], "dim0-plus");
    EXPECT_EQ(links[1] % 2, 0u);
    EXPECT_EQ(links[2] % 2, 1u);
    // One switch back: still the shorter way.
    const auto back = route(torus, {2 * from, 2 * ((from + 3) % 4)}, idle);
    ASSERT_EQ(back.size(), 3u);
    EXPECT_EQ(torus.link_classes()[torus.link_class(back[1])], "dim0-minus");
    EXPECT_EQ(back[1] % 2, 1u);
  }
}

TEST(Torus, AShiftOfHostsSpreadsOverAllCablesOfADirection) {
  for (const std::uint32_t shift : {24u, 25u, 120u, 600u}) {
    std::map<LinkId, int> flows;
    const Loads idle(paper_machine());
    for (std::uint32_t i = 0; i < 24; ++i) ++flows[route(paper_machine(), {i, i + shift}, idle)[1]];
    int between_switches = 0;
    for (const auto& [link, count] : flows) {
      // 24 flows over 4 cables; one flow more where the last hosts go on to the next switch but one.
      EXPECT_LE(count, shift % 24 == 0 ? 6 : 7) << "shift " << shift << ", " << paper_machine().describe(link).target;
      between_switches += paper_machine().host_behind(link) == kNoHost;
    }
    EXPECT_GE(between_switches, 4) << shift;
  }
}

TEST(Torus, MessagesOfOneHostSpreadOverTheCables) {
  std::set<LinkId> used;
  const Loads idle(paper_machine());
  for (std::uint32_t i = 0; i < 24; ++i) used.insert(route(paper_machine(), {0, 24 + i}, idle)[1]);
  EXPECT_EQ(used.size(), 4u);
}

TEST(Torus, TheLeastCutBetweenTheHalves) {
  const Torus even({3, 4}, 20, 2, "");
  EXPECT_EQ(least_cut(even), 2u * 2 * 3);
  // The plane in the middle is cut too: 2 * 3 for the rings of the second dimension, 2 for the ring in the middle, 10
  // hosts of its middle switch.
  const Torus odd({3, 3}, 21, 1, "");
  EXPECT_EQ(least_cut(odd), 2u * 3 + 2 + 10);
}

// Axes a and c of Tofu-D are rows of two, b is a ring of three; the last ring has two cables.
const Torus& tofu() {
  static const Torus torus({2, 3, 2, 4, 3, 2}, 6, std::vector<std::int64_t>{1, 1, 1, 1, 1, 2}, {0, 2}, "topology");
  return torus;
}

std::vector<Torus> meshes() {
  using List = std::vector<std::int64_t>;
  return {Torus({5}, 2, List{1}, {0}, ""), Torus({4, 3}, 2, List{1, 2}, {0}, ""), Torus({4, 3}, 1, List{3, 1}, {1}, ""),
          Torus({2, 2, 5}, 2, List{1, 2, 1}, {0, 1, 2}, ""), Torus({3, 1, 4, 2}, 1, List{2, 1, 1, 1}, {0, 1, 3}, "")};
}

TEST(Torus, RowsOfTwoShareOneCable) {
  const auto ports = ports_of_switches(tofu());
  // 6 hosts, 1 each for a and c, 2 each for b, x and y, 2 * 2 for z.
  for (const auto& [name, count] : ports) EXPECT_EQ(count, 6u + 1 + 2 + 1 + 2 + 2 + 4) << name;
  const auto links = links_per_class(tofu());
  EXPECT_EQ(links.at("dim0-plus"), 144u);
  EXPECT_EQ(links.at("dim0-minus"), 144u);
  EXPECT_EQ(links.at("dim1-plus"), 288u);
  EXPECT_EQ(links.at("dim5-plus"), 2u * 288);
  EXPECT_EQ(tofu().max_hops(), 2u + 1 + 1 + 1 + 2 + 1 + 1);
}

TEST(Torus, LinksAndRoutesOfMeshesAgree) {
  expect_links_agree(tofu());
  for (const auto& torus : meshes()) {
    expect_links_agree(torus);
    expect_every_pair_routable(torus);
  }
}

TEST(Torus, RoutesInRowsAreAsLongAsTheCoordinatesAreApart) {
  const Torus torus({5, 4, 2}, 2, std::vector<std::int64_t>{1, 2, 3}, {0, 2}, "");
  const Loads idle(torus);
  std::size_t longest = 0;
  for (std::uint32_t source = 0; source < torus.hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < torus.hosts(); ++destination) {
      if (source == destination) continue;
      const int from = static_cast<int>(source) / 2;
      const int to = static_cast<int>(destination) / 2;
      const int ring = std::abs(from / 5 % 4 - to / 5 % 4);
      const auto expected = static_cast<std::size_t>(2 + std::abs(from % 5 - to % 5) + std::min(ring, 4 - ring) +
                                                     std::abs(from / 20 - to / 20));
      ASSERT_EQ(route(torus, {source, destination}, idle).size(), expected) << source << " to " << destination;
      longest = std::max(longest, expected);
    }
  }
  EXPECT_EQ(longest, torus.max_hops());
}

TEST(Torus, UniformTrafficLoadsTheLinksOfARowByTheHostsBeforeAndBehind) {
  const Torus row({6}, 3, std::vector<std::int64_t>{1}, {0}, "");
  const auto uses = uniform_traffic(row);
  for (LinkId link = 2 * row.hosts(); link < row.links(); ++link) {
    const auto ends = row.describe(link);
    const auto at = static_cast<std::uint32_t>(std::stoi(ends.source.substr(7)));
    const auto next = static_cast<std::uint32_t>(std::stoi(ends.target.substr(7)));
    const std::uint32_t before = next > at ? at + 1 : 6 - at;
    EXPECT_EQ(uses[link], 3u * before * 3 * (6 - before)) << ends.source << " to " << ends.target;
  }
}

TEST(Torus, TheLeastCutOfMeshes) {
  const auto cut = [](const std::vector<std::int64_t>& shape, std::int64_t hosts,
                      const std::vector<std::int64_t>& links, const std::vector<std::int64_t>& mesh) {
    return least_cut(Torus(shape, hosts, links, mesh, ""));
  };
  EXPECT_EQ(cut({3, 4}, 20, {1, 2}, {1}), 2u * 3);
  EXPECT_EQ(cut({3, 4}, 20, {1, 2}, {0}), 2u * 2 * 3);
  EXPECT_EQ(cut({2, 3, 2, 2, 3, 2}, 6, {1, 1, 1, 1, 1, 1}, {0, 2}), 2u * 72);  // z is a ring of two: two cables
  EXPECT_EQ(cut({2, 3, 2}, 6, {1, 1, 1}, {0, 2}), 6u);
  EXPECT_EQ(cut({3, 3}, 21, {2, 1}, {0, 1}), 1u * 3 + 2 + 10);
}

TEST(Torus, DirectionsAreThoseOfTheFirstLinkBetweenSwitches) {
  // Switch 0 is at the origin; z + 1 and z - 1 are the same switch here: half of the hosts go each way.
  const auto direction = [](std::uint32_t to) { return tofu().direction(0, 6 * to); };
  EXPECT_EQ(direction(1), 0u);                      // a
  EXPECT_EQ(tofu().direction(6, 0), 1u);            // back
  EXPECT_EQ(direction(2), 2u);                      // b
  EXPECT_EQ(direction(4), 3u);                      // b the other way round
  EXPECT_EQ(direction(6), 4u);                      // c
  EXPECT_EQ(direction(12), 6u);                     // x
  EXPECT_EQ(direction(36), 7u);                     // x the other way round
  EXPECT_EQ(direction(48), 8u);                     // y
  EXPECT_EQ(direction(13), 0u);                     // a comes before x
  EXPECT_EQ(tofu().direction(0, 1), 0u);            // within a switch
  EXPECT_EQ(tofu().direction(0, 6 * 144) / 2, 5u);  // z
}

TEST(Torus, RefusesAnEmptyShape) { EXPECT_THROW(Torus({}, 1, 1, "t"), UserError); }

TEST(Torus, RefusesMachinesThatDoNotFit31Bits) {
  EXPECT_THROW(Torus({1 << 16}, 1, 1, "t"), UserError);              // too long a ring
  EXPECT_THROW(Torus({200, 200, 200}, 400, 1, "t"), UserError);      // hosts
  EXPECT_THROW(Torus({100, 100, 100}, 1, 100'000, "t"), UserError);  // links
}

TEST(Torus, RefusesRoutesOfMoreThan255Links) {
  EXPECT_NO_THROW(Torus({507}, 1, 1, "t"));
  EXPECT_THROW(Torus({508}, 1, 1, "t"), UserError);
}

}  // namespace
}  // namespace manynode::network::torus_test
