// Fat-tree: a parallel-ports generalised fat-tree (PGFT; Zahavi, "D-Mod-K routing providing non-blocking traffic for
// shift permutations on real life fat trees", 2010; the parameters are those of SimGrid's fat-tree). Hosts are level 0.
// At level l = 1 ... h, a switch has children[l-1] children, each child has parents[l-1] parents, and
// parallel_links[l-1] cables join the two. A node of level l is the digits (a_1 ... a_h), a_i < parents[i-1] for i <= l
// and a_i < children[i-1] above; it is joined to the nodes of level l + 1 that differ from it in digit l + 1 alone.
//
// Several `planes` are as many equal trees without a link between them, one after the other in all numbers.
//
// Routing "d-mod-k": the destination d selects the way up, port floor(d / W_l) mod (w p) at level l, where W_l is the
// product of the parents so far. Only one way down remains. All traffic to one host therefore shares one tree, and
// consecutive destinations spread over all ports.
//
// Routing "adaptive": each switch on the way up takes its up-port with the least backlog. The switch at which the route
// turns determines the switches on the way down; among parallel links, the upper switch takes the least loaded. The
// links of hosts are chosen as in D-mod-k: a host has no view of the network, and traffic enters a host by one link.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topology.hpp"

namespace manynode::network {

class FatTree final : public Topology {
 public:
  enum class Routing : std::uint8_t { DModK, Adaptive };

  // The lists have one entry per level and are at least 1 everywhere; throws UserError (`place` names the object) for
  // lists of different lengths and for trees whose hosts or links do not fit 31 bits.
  FatTree(const std::vector<std::int64_t>& children, const std::vector<std::int64_t>& parents,
          const std::vector<std::int64_t>& parallel_links, const std::string& place, Routing routing = Routing::DModK,
          std::int64_t planes = 1);

  std::string kind() const override { return "fat-tree"; }
  std::uint32_t hosts() const override { return hosts_; }
  std::uint32_t switches() const override { return switches_; }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override { return 2 * static_cast<std::uint32_t>(levels_.size()); }
  bool adaptive() const override { return routing_ == Routing::Adaptive; }
  std::uint32_t planes() const override { return planes_; }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const override;
  std::uint32_t hops(std::uint32_t source, std::uint32_t destination) const override;
  LinkId link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                 std::uint32_t hops) const override;
  std::uint32_t host_behind(LinkId link) const override;
  std::vector<std::string> link_classes() const override;
  std::uint8_t link_class(LinkId link) const override;
  LinkDescription describe(LinkId link) const override;

 private:
  // The links between a level and the one below it.
  struct Level {
    Divisor parents;         // w: parents of a lower node
    Divisor ports;           // w p: up-ports of a lower node
    Divisor below_children;  // product of the children up to the lower level: hosts under a lower node
    Divisor below_parents;   // product of the parents up to the lower level
    Divisor hosts_under;     // hosts under an upper node
    std::uint32_t parallel;  // p
    std::uint32_t children;  // m: children of an upper node
    LinkId up;               // first up-link; the link's index is (lower node * parents + digit) * parallel + k
    LinkId down;             // first down-link, in the same order
  };

  // The port upwards that D-mod-K chooses from a lower node of a level.
  static std::uint32_t port_to(const Level& level, std::uint32_t destination) {
    return level.ports.remainder(level.below_parents.quotient(destination));
  }
  // Appends a whole route; `port` gives the port upwards by level, which is also that of the way down.
  template <class Port>
  std::uint32_t whole_route(const RouteRequest& request, LinkId* out, Port port) const;
  std::uint32_t next_links(const RouteRequest& request, std::uint32_t hops, LinkId* out, const LinkLoads& loads) const;
  std::size_t lower_level(LinkId link) const;
  // Throws std::logic_error for hosts in different planes.
  void check_plane(std::uint32_t source, std::uint32_t destination) const;
  std::string node_name(std::size_t level, std::uint32_t index) const;

  Routing routing_;
  std::vector<Level> levels_;
  std::uint32_t planes_{1};
  std::uint32_t hosts_{1};
  std::uint32_t switches_{0};
  std::uint32_t links_{0};
};

}  // namespace manynode::network
