// Dragonfly with two-dimensional groups, as Cray's XC has them (Alverson, Froese, Kaplan, Roweth, "Cray XC series
// network", 2012): the routers of a group are a grid. Within a row (a chassis) every two routers share row_links
// cables, within a column column_links; routers that differ in both are two links apart. Each router has global_links
// ports to other groups. Routers of a group are numbered along the rows, hosts router by router, group by group.
// global_cables.hpp describes the cables between groups.
//
// Routing:
// - "minimal": within a group first along the row, then along the column; to another group so to the router of a global
//   cable, over it, and so to the destination. The destination and the source router select the global cable.
// - "valiant": through a third group, drawn for each chunk, over drawn cables; within a group through a drawn router.
// - "ugal": the source router compares the minimal route over a drawn cable with one through a drawn third group, by
// the
//   backlog of the first link times the links that are left, and a bias. A chunk on its minimal way to the router of
//   the global cable decides again there, between that router's cables to the destination's group and one to a third
//   group (see dragonfly.hpp for the reason).
//
// Virtual channels: a chunk takes the next one in another group, and in a group where it begins its row anew (a
// detour). On each channel links are then taken in the order row, column, global.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topologies/global_cables.hpp"
#include "topologies/host_links.hpp"
#include "topology.hpp"

namespace manynode::network {

class Dragonfly2d final : public Topology {
 public:
  enum class Routing : std::uint8_t { Minimal, Valiant, Ugal };

  struct Shape {
    std::int64_t groups;
    std::int64_t rows;     // of a group
    std::int64_t columns;  // routers of a row
    std::int64_t hosts_per_router;
    std::int64_t row_links;     // cables between each two routers of a row
    std::int64_t column_links;  // the same in a column
    std::int64_t global_links;  // ports of each router to other groups; may be 0 where there is one group
  };

  // Throws UserError (`place` names the object) if the groups cannot all be connected or parts do not fit 31 bits.
  Dragonfly2d(const Shape& shape, Routing routing, double ugal_bias_s, const std::string& place);

  std::string kind() const override { return "dragonfly-2d"; }
  std::uint32_t hosts() const override { return ends_.hosts(); }
  std::uint32_t switches() const override { return groups_ * routers_.value(); }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override { return routing_ == Routing::Minimal ? 7 : 10; }
  bool adaptive() const override { return routing_ != Routing::Minimal; }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const override;
  std::uint32_t host_behind(LinkId link) const override { return ends_.host_behind(link); }
  std::vector<std::string> link_classes() const override { return {"host-up", "host-down", "row", "column", "global"}; }
  std::uint8_t link_class(LinkId link) const override;
  std::uint32_t virtual_channels() const override { return routing_ == Routing::Minimal ? 2 : 3; }
  std::uint8_t virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const override;
  LinkDescription describe(LinkId link) const override;

 private:
  class Path;

  // Routers have numbers through the machine here.
  std::uint32_t group_of(std::uint32_t router) const { return routers_.quotient(router); }
  LinkId row_link(std::uint32_t router, std::uint32_t column, std::uint32_t cable) const;
  LinkId column_link(std::uint32_t router, std::uint32_t row, std::uint32_t cable) const;
  LinkId global(std::uint32_t group, std::uint32_t port) const { return global_ + group * cables_.ports() + port; }
  std::uint32_t router_of(std::uint32_t group, std::uint32_t port) const {
    return group * routers_.value() + global_links_.quotient(port);
  }
  std::uint32_t router_behind(LinkId link) const;
  // Whether the way within a group over a router begins with the links of the direct way; and whether it passes `to`.
  bool begins_alike(std::uint32_t from, std::uint32_t over, std::uint32_t to) const;
  bool passes(std::uint32_t from, std::uint32_t over, std::uint32_t to) const;
  // Links within their group between two routers, and on the minimal route from a router over a port to a router.
  std::uint32_t apart(std::uint32_t one, std::uint32_t other) const;
  std::uint32_t links_over(std::uint32_t router, std::uint32_t port, std::uint32_t to) const;

  std::uint32_t drawn_port(const RouteRequest& request, std::uint32_t use, std::uint32_t from, std::uint32_t to) const;
  void minimal(const RouteRequest& request, Path& path) const;
  void valiant(const RouteRequest& request, Path& path) const;
  void ugal(const RouteRequest& request, std::uint32_t hops, const LinkLoads& loads, Path& path) const;
  // From the source router, with a route through a third group or router.
  void around(const RouteRequest& request, std::uint32_t port, Path& path) const;
  void at_gateway(const RouteRequest& request, const LinkLoads& loads, Path& path) const;

  Routing routing_;
  Picoseconds bias_;
  std::uint32_t groups_;
  Divisor routers_;  // per group
  Divisor columns_;
  std::uint32_t rows_;
  Divisor row_links_;
  Divisor column_links_;
  Divisor global_links_;
  GlobalCables cables_;
  HostLinks ends_;
  LinkId row_{0};     // index (router * (columns - 1) + other column) * row_links + cable
  LinkId column_{0};  // index (router * (rows - 1) + other row) * column_links + cable
  LinkId global_{0};  // index group * ports + port
  std::uint32_t links_{0};
};

}  // namespace manynode::network
