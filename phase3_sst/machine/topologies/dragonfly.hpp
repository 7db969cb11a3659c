// Dragonfly (Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008): groups of
// routers; within a group every two routers share local_links cables, and each router has global_links ports to other
// groups. Hosts are numbered router by router, group by group. global_cables.hpp describes the cables between groups.
// All ports are used, except one per group if the numbers of groups and ports do not allow it.
//
// Routing:
// - "minimal": local, global, local. The destination and the source router select the cable between two groups:
//   consecutive destinations take different cables for any sender, and routes never depend on chance.
// - "minimal-by-source" follows SST's merlin: the source host modulo the cables that every two groups have selects the
//   cable, and the sum of both hosts modulo local_links the local ones. The additional cables of global_cables.hpp,
//   which merlin lacks, carry nothing.
// - "valiant": through a third group, drawn for each chunk, and over drawn cables (without a third group, over the
//   drawn cable of the minimal route). Within a group: through a drawn third router, as in SST's merlin, because with
//   one cable between two routers a group has its own hot spots.
// - "ugal": the source router compares a drawn minimal route with a drawn Valiant route, by the backlog of the first
//   link times the remaining links (UGAL-L of Kim et al., section 4.2). It takes the minimal one if
//   backlog * links <= backlog' * links' + bias. If the minimal route begins with a local link, the router at the
//   global cable decides again, between its cables to the destination's group and one to a drawn third group
//   (progressive adaptive routing: Jiang, Kim, Dally, "Indirect adaptive routing on large scale interconnection
//   networks", ISCA 2009). In a real router, a full cable also fills the queues before it by back-pressure, which the
//   source router sees. Buffers here are unlimited: without the second decision UGAL-L would see no congestion.
//
// Virtual channels, as in merlin: a chunk takes the next channel in another group, and for the second link of a detour
// within a group. Links are thus taken in the order of their channels, on each channel first a local link and then a
// global one.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topologies/global_cables.hpp"
#include "topology.hpp"

namespace manynode::network {

class Dragonfly final : public Topology {
 public:
  enum class Routing : std::uint8_t { Minimal, MinimalBySource, Valiant, Ugal };

  struct Shape {
    std::int64_t groups;
    std::int64_t routers_per_group;
    std::int64_t hosts_per_router;
    std::int64_t local_links;   // cables between each two routers of a group
    std::int64_t global_links;  // ports of each router to other groups; may be 0 where there is one group
  };

  // Bias of UGAL towards the minimal route: about the time of a chunk on a link.
  static constexpr double kDefaultBias = 200e-9;

  // Throws UserError (`place` names the object) if the groups cannot all be connected or parts do not fit 31 bits.
  Dragonfly(const Shape& shape, Routing routing, double ugal_bias_s, const std::string& place);

  std::string kind() const override { return "dragonfly"; }
  std::uint32_t hosts() const override { return hosts_; }
  std::uint32_t switches() const override { return switches_; }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override { return is_minimal() ? 5 : 7; }
  bool adaptive() const override { return !is_minimal(); }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const override;
  std::uint32_t host_behind(LinkId link) const override;
  std::vector<std::string> link_classes() const override { return {"host-up", "host-down", "local", "global"}; }
  std::uint8_t link_class(LinkId link) const override;
  std::uint32_t virtual_channels() const override { return is_minimal() ? 2 : 3; }
  std::uint8_t virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const override;
  LinkDescription describe(LinkId link) const override;

 private:
  // Routers have two coordinates, and hosts belong to one.
  struct Place {
    std::uint32_t group;
    std::uint32_t router;
  };
  struct Ends {
    Place source;
    Place destination;
    std::uint32_t host;  // the destination's number in its group
  };
  class Path;

  Ends ends(const RouteRequest& request) const;
  LinkId first_local(std::uint32_t group, std::uint32_t from, std::uint32_t to) const;
  LinkId global(std::uint32_t group, std::uint32_t port) const { return global_ + group * cables_.ports() + port; }
  std::uint32_t router_of_port(std::uint32_t port) const { return global_links_.quotient(port); }

  bool is_minimal() const { return routing_ == Routing::Minimal || routing_ == Routing::MinimalBySource; }
  std::uint32_t minimal(const RouteRequest& request, LinkId* out) const;
  std::uint32_t minimal_by_source(const RouteRequest& request, LinkId* out) const;
  std::uint32_t valiant(const RouteRequest& request, LinkId* out) const;
  std::uint32_t ugal(const RouteRequest& request, std::uint32_t hops, LinkId* out, const LinkLoads& loads) const;
  void ugal_within_group(const RouteRequest& request, const Ends& way, const LinkLoads& loads, Path& path) const;
  void ugal_at_source(const RouteRequest& request, const Ends& way, const LinkLoads& loads, Path& path) const;
  void ugal_at_gateway(const RouteRequest& request, const Ends& way, const LinkLoads& loads, Path& path) const;
  void finish(const RouteRequest& request, const Ends& way, Path& path) const;
  std::uint32_t drawn_port(const RouteRequest& request, std::uint32_t use, std::uint32_t from, std::uint32_t to) const;
  LinkId first_link(Place at, std::uint32_t port, const RouteRequest& request, const LinkLoads& loads) const;
  std::uint32_t links_to_go(Place at, std::uint32_t port, const RouteRequest& request, const Ends& way) const;

  Routing routing_;
  Picoseconds bias_;
  std::uint32_t groups_;
  std::uint32_t routers_;
  Divisor routers_per_group_;
  Divisor hosts_per_router_;
  Divisor local_links_;
  Divisor global_links_;
  GlobalCables cables_;
  std::uint32_t hosts_{0};
  std::uint32_t switches_{0};
  std::uint32_t links_{0};
  LinkId local_{0};   // first local link; index ((group, from) * (routers - 1) + to without from) * local_links + k
  LinkId global_{0};  // first global link; index group * ports + port
};

}  // namespace manynode::network
