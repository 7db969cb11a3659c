// What holds for every topology: routes are chains of links from host to host, the description of links agrees with
// routes, and possible_routes() has all routes that load and chance choose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology.hpp"

namespace manynode::network::testing {

// The loads of a machine, filled by hand; the simulated time is 0.
class Loads {
 public:
  // For routes that do not depend on loads.
  Loads() = default;
  explicit Loads(const Topology& topology) : links_(topology.links()) {}

  void set(LinkId link, Picoseconds backlog) { links_[link].free = backlog; }
  LinkLoads view() const { return LinkLoads(links_.data(), 0); }

 private:
  std::vector<LinkUse> links_;
};

// The whole route, asked for as the engine does: again behind each last link, until it enters the destination.
inline std::vector<LinkId> route(const Topology& topology, const RouteRequest& request, const Loads& loads) {
  std::vector<LinkId> links(topology.max_hops());
  std::uint32_t hops = 0;
  do {
    const std::vector<LinkId> before(links.begin(), links.begin() + hops);
    const std::uint32_t longer = topology.extend(request, hops, links.data(), loads.view());
    EXPECT_GT(longer, hops);
    EXPECT_LE(longer, topology.max_hops());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), links.begin()));
    if (longer <= hops || longer > topology.max_hops()) break;
    hops = longer;
  } while (topology.host_behind(links[hops - 1]) != request.destination);
  links.resize(hops);
  return links;
}

// Begins at the source, each link where the one before ended, no link twice, hosts only at the ends.
inline void expect_consistent(const Topology& topology, const RouteRequest& request, const Loads& loads) {
  const auto links = route(topology, request, loads);
  ASSERT_GE(links.size(), 2u);
  std::string at = "host-" + std::to_string(request.source);
  std::set<LinkId> seen;
  for (const LinkId link : links) {
    ASSERT_LT(link, topology.links());
    const auto description = topology.describe(link);
    ASSERT_EQ(description.source, at) << request.source << " to " << request.destination;
    ASSERT_TRUE(seen.insert(link).second) << "twice: " << description.source << " to " << description.target;
    ASSERT_EQ(topology.host_behind(link) != kNoHost, link == links.back());
    at = description.target;
  }
  ASSERT_EQ(at, "host-" + std::to_string(request.destination));
}

// The ends of the links that a route passes, in order: parallel links count as one.
inline std::vector<std::string> stations(const Topology& topology, const std::vector<LinkId>& links) {
  std::vector<std::string> names;
  for (const LinkId link : links) names.push_back(topology.describe(link).target);
  return names;
}

// Draws routes under drawn loads between two hosts. Each must be possible; with `all`, each possible one must be drawn.
inline void expect_possible(const Topology& topology, std::uint32_t source, std::uint32_t destination, bool all) {
  std::set<std::vector<std::string>> possible;
  for (const auto& links : topology.possible_routes(source, destination)) {
    ASSERT_GE(links.size(), 2u);
    ASSERT_LE(links.size(), topology.max_hops());
    std::string at = "host-" + std::to_string(source);
    for (const LinkId link : links) {
      ASSERT_EQ(topology.describe(link).source, at);
      at = topology.describe(link).target;
    }
    ASSERT_EQ(at, "host-" + std::to_string(destination));
    possible.insert(stations(topology, links));
  }
  std::mt19937_64 random(source * 1000 + destination);
  std::set<std::vector<std::string>> drawn;
  Loads loads(topology);
  for (int draw = 0; draw < 600; ++draw) {
    for (LinkId link = 0; link < topology.links(); ++link) loads.set(link, random() % 2 == 0 ? 0 : 1'000'000'000);
    drawn.insert(stations(topology, route(topology, {source, destination, random()}, loads)));
  }
  for (const auto& names : drawn) EXPECT_EQ(possible.count(names), 1u) << source << " to " << destination;
  if (all) {
    EXPECT_EQ(drawn.size(), possible.size()) << source << " to " << destination;
  }
}

inline void expect_every_pair_routable(const Topology& topology, std::uint64_t random = 0) {
  const Loads idle(topology);
  for (std::uint32_t source = 0; source < topology.hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < topology.hosts(); ++destination) {
      if (source == destination) continue;
      expect_consistent(topology, {source, destination, random + source * 7919 + destination}, idle);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Each link has a known class; classes "host-up" and "host-down" are the links from and to hosts, one for each
// direction of the same pair; every link has as many links in the other direction.
inline void expect_links_agree(const Topology& topology) {
  const auto classes = topology.link_classes();
  std::map<std::pair<std::string, std::string>, int> joined;
  std::set<std::string> switches;
  for (LinkId link = 0; link < topology.links(); ++link) {
    const auto [source, target] = topology.describe(link);
    ASSERT_LT(topology.link_class(link), classes.size());
    const std::string& name = classes[topology.link_class(link)];
    const bool from_host = source.rfind("host-", 0) == 0;
    const bool to_host = target.rfind("host-", 0) == 0;
    ASSERT_EQ(name == "host-up", from_host) << source << " to " << target << " is " << name;
    ASSERT_EQ(name == "host-down", to_host) << source << " to " << target << " is " << name;
    const std::uint32_t host = topology.host_behind(link);
    ASSERT_EQ(host != kNoHost, to_host);
    if (to_host) {
      ASSERT_EQ(target, "host-" + std::to_string(host));
    }
    if (!from_host) switches.insert(source);
    ++joined[{source, target}];
  }
  for (const auto& [pair, count] : joined) {
    ASSERT_EQ((joined[{pair.second, pair.first}]), count) << pair.first << " and " << pair.second;
  }
  EXPECT_EQ(switches.size(), topology.switches());
}

inline std::map<std::string, std::uint64_t> links_per_class(const Topology& topology) {
  std::map<std::string, std::uint64_t> count;
  for (LinkId link = 0; link < topology.links(); ++link) ++count[topology.link_classes()[topology.link_class(link)]];
  return count;
}

// Cables at each switch, to hosts and switches.
inline std::map<std::string, std::uint64_t> ports_of_switches(const Topology& topology) {
  std::map<std::string, std::uint64_t> ports;
  for (LinkId link = 0; link < topology.links(); ++link) {
    const auto description = topology.describe(link);
    if (description.source.rfind("host-", 0) != 0) ++ports[description.source];
  }
  return ports;
}

// The most links that disjoint paths from the low half of the hosts to the high half can use, which is the least number
// of links that must be cut to part the two (Ford and Fulkerson), from the described links alone.
inline std::uint64_t least_cut(const Topology& topology) {
  std::map<std::string, std::size_t> numbers;
  const auto number = [&](const std::string& name) { return numbers.try_emplace(name, numbers.size()).first->second; };
  const std::size_t from = number("low half");
  const std::size_t to = number("high half");
  std::vector<std::map<std::size_t, int>> room(2 + topology.hosts() + topology.switches());
  for (LinkId link = 0; link < topology.links(); ++link) {
    const auto description = topology.describe(link);
    ++room.at(number(description.source))[number(description.target)];
  }
  constexpr int kEndless = 1 << 30;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const std::size_t at = number("host-" + std::to_string(host));
    if (host < topology.hosts() / 2) {
      room.at(from)[at] = kEndless;
    } else {
      room.at(at)[to] = kEndless;
    }
  }
  constexpr std::size_t kUnseen = SIZE_MAX;
  for (std::uint64_t flow = 0;; ++flow) {
    std::vector<std::size_t> before(room.size(), kUnseen);
    before[from] = from;
    std::queue<std::size_t> open({from});
    while (!open.empty() && before[to] == kUnseen) {
      const std::size_t at = open.front();
      open.pop();
      for (const auto& [next, left] : room[at]) {
        if (left > 0 && before[next] == kUnseen) {
          before[next] = at;
          open.push(next);
        }
      }
    }
    if (before[to] == kUnseen) return flow;
    for (std::size_t at = to; at != from; at = before[at]) {
      --room[before[at]][at];
      ++room[at][before[at]];
    }
  }
}

// Loads of links when every host sends to every other alike.
inline std::vector<std::uint64_t> uniform_traffic(const Topology& topology) {
  std::vector<std::uint64_t> uses(topology.links());
  std::vector<LinkId> links(topology.max_hops());
  for (std::uint32_t source = 0; source < topology.hosts(); ++source) {
    for (std::uint32_t destination = 0; destination < topology.hosts(); ++destination) {
      if (source == destination) continue;
      const std::uint32_t hops = topology.extend({source, destination}, 0, links.data(), LinkLoads(nullptr, 0));
      for (std::uint32_t i = 0; i < hops; ++i) ++uses[links[i]];
    }
  }
  return uses;
}

struct Range {
  std::uint64_t least;
  std::uint64_t most;
};

// Of the uses of the links of one class.
inline Range range_of_class(const Topology& topology, const std::vector<std::uint64_t>& uses, const std::string& name) {
  const auto classes = topology.link_classes();
  Range range{UINT64_MAX, 0};
  for (LinkId link = 0; link < topology.links(); ++link) {
    if (classes[topology.link_class(link)] != name) continue;
    range.least = std::min(range.least, uses[link]);
    range.most = std::max(range.most, uses[link]);
  }
  return range;
}

}  // namespace manynode::network::testing
