// Assigns cables to the global ports of a dragonfly's groups.
//
// Each group has `ports` ports, in the order of its routers, for the other groups - 1 groups. A pair of groups has
// floor(ports / (groups - 1)) cables. The remainder gives one more cable to groups at some distances (counted round the
// circle of groups): distances 1, 2, ... on both sides, and the opposite group if the remainder is odd. All groups have
// the same cables and use all ports. If remainder and number of groups are both odd, there is no opposite group, and
// each group leaves one port free. The paper's machine (5 groups of 18 * 7 ports) has 32 cables to each neighbour and
// 31 to the others, 315 in total.
//
// Ports go round the other groups, nearest first: the ports of one router lead to as many groups as possible. SST's
// merlin calls this arrangement relative; the additional cables are added to it.
#pragma once

#include "topologies/divisor.hpp"

namespace manynode::network {

class GlobalCables {
 public:
  struct Port {
    std::uint32_t group;
    std::uint32_t port;
  };

  GlobalCables() = default;
  // `ports` is at least groups - 1.
  GlobalCables(std::uint32_t groups, std::uint32_t ports);

  // Number of used ports of each group.
  std::uint32_t ports() const { return ports_; }

  // Cables between two different groups.
  std::uint32_t count(std::uint32_t from, std::uint32_t to) const {
    return rounds_ + (has_further(distance(from, to)) ? 1 : 0);
  }
  // The same, as a divisor.
  const Divisor& counter(std::uint32_t from, std::uint32_t to) const {
    return has_further(distance(from, to)) ? more_ : less_;
  }
  // The cables that every two groups have, as a divisor.
  const Divisor& every() const { return less_; }

  // The port of `from` at which a cable to `to` begins.
  std::uint32_t port(std::uint32_t from, std::uint32_t to, std::uint32_t cable) const;

  // Where the cable at a port of `group` ends.
  Port other_end(std::uint32_t group, std::uint32_t port) const;

 private:
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const {
    return to > from ? to - from : to + groups_ - from;
  }
  // Distances 1 ... near_ on both sides, and the opposite group.
  bool has_further(std::uint32_t distance) const {
    return distance <= near_ || distance >= groups_ - near_ || (opposite_ && 2 * distance == groups_);
  }

  std::uint32_t groups_{1};
  Divisor others_{1};        // groups - 1
  std::uint32_t ports_{0};   // per group, in use
  std::uint32_t rounds_{0};  // cables of every pair
  std::uint32_t near_{0};
  bool opposite_{false};
  Divisor less_{1};
  Divisor more_{1};
};

}  // namespace manynode::network
