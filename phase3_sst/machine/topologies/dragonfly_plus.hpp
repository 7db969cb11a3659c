// Dragonfly+ (Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, "Dragonfly+: low cost topology for scaling
// datacenters", HiPINEB 2017): groups of leaf and spine switches. Within a group each leaf has leaf_links cables to
// each spine; each spine has global_links ports to other groups. Hosts are numbered leaf by leaf, group by group.
// global_cables.hpp describes the cables between groups.
//
// Routing:
// - "minimal": up to a spine, over a global cable, down to the leaf. Within a group the destination selects spine and
//   cable, as D-mod-k in a fat-tree; between groups the destination and the source's leaf select the global cable.
// - "ugal": the leaf takes the least loaded link up (between groups: to a spine with a cable to the destination's
// group).
//   The spine takes its least loaded cable to the destination's group, or one to a drawn third group: the direct one if
//   backlog * links <= backlog' * links' + bias, as in the dragonfly, where links count those between switches that are
//   left. In the third group the spine goes on directly if it can, else by a drawn leaf and the spine of a drawn cable.
//   Congestion is thus seen where it is, at the spine, as in Shpiner's fully progressive adaptive routing.
//
// Virtual channels: a chunk takes the next channel in another group. Links are then taken up, global, down on each
// channel; a detour goes down and up again on the second one, and down at its end on the third. Minimal routes need
// one.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topologies/global_cables.hpp"
#include "topologies/host_links.hpp"
#include "topology.hpp"

namespace manynode::network {

class DragonflyPlus final : public Topology {
 public:
  struct Shape {
    std::int64_t groups;
    std::int64_t leaves_per_group;
    std::int64_t spines_per_group;
    std::int64_t hosts_per_leaf;
    std::int64_t leaf_links;    // cables between a leaf and each spine of its group
    std::int64_t global_links;  // ports of each spine to other groups; may be 0 where there is one group
  };

  // Throws UserError (`place` names the object) if the groups cannot all be connected or parts do not fit 31 bits.
  DragonflyPlus(const Shape& shape, bool ugal, double ugal_bias_s, const std::string& place);

  std::string kind() const override { return "dragonfly-plus"; }
  std::uint32_t hosts() const override { return ends_.hosts(); }
  std::uint32_t switches() const override { return groups_ * (leaves_.value() + spines_); }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override { return ugal_ ? 8 : 5; }
  bool adaptive() const override { return ugal_; }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const override;
  std::uint32_t host_behind(LinkId link) const override { return ends_.host_behind(link); }
  std::vector<std::string> link_classes() const override {
    return {"host-up", "host-down", "leaf-up", "leaf-down", "global"};
  }
  std::uint8_t link_class(LinkId link) const override;
  std::uint32_t virtual_channels() const override { return ugal_ ? 3 : 1; }
  std::uint8_t virtual_channel(LinkId before, std::uint8_t channel, LinkId /*link*/) const override {
    return ugal_ && before >= global_ ? static_cast<std::uint8_t>(channel + 1) : channel;
  }
  LinkDescription describe(LinkId link) const override;

 private:
  // Where a route is from and to; leaves are numbered through the machine.
  struct Way {
    std::uint32_t from_leaf;
    std::uint32_t from_group;
    std::uint32_t to_leaf;
    std::uint32_t to_group;
    std::uint32_t host;  // the destination's number in its group
  };
  // What follows the link up: a port of the spine, and what lies in a third group. kNone: none.
  struct Onward {
    std::uint32_t port;
    std::uint32_t leaf;
    std::uint32_t second_port;
  };

  Way way_of(const RouteRequest& request) const;
  LinkId up(std::uint32_t leaf, std::uint32_t spine, std::uint32_t cable) const {
    return up_ + (leaf * spines_ + spine) * leaf_links_.value() + cable;
  }
  LinkId down(std::uint32_t leaf, std::uint32_t spine, std::uint32_t cable) const {
    return up(leaf, spine, cable) + (down_ - up_);
  }
  LinkId global(std::uint32_t group, std::uint32_t port) const { return global_ + group * cables_.ports() + port; }
  std::uint32_t spine_of(std::uint32_t port) const { return global_links_.quotient(port); }

  std::uint32_t minimal(const RouteRequest& request, LinkId* out) const;
  std::uint32_t apart(std::uint32_t number, std::uint32_t cables) const;
  LinkId least_up(const RouteRequest& request, const Way& way, const LinkLoads& loads) const;
  Onward choose_onward(const RouteRequest& request, const Way& way, std::uint32_t spine, const LinkLoads& loads) const;
  Onward detour_over(const RouteRequest& request, const Way& way, std::uint32_t port) const;
  // Appends the links from a spine of the source's group to the destination; `cable` gives that of each link down or
  // up.
  template <class Cable>
  std::uint32_t finish(const Way& way, std::uint32_t spine, const Onward& onward, std::uint32_t destination,
                       std::uint32_t hops, LinkId* out, Cable cable) const;
  // The first port of a spine to a group, of the ports in use; kNone if there is none.
  std::uint32_t port_to(std::uint32_t group, std::uint32_t spine, std::uint32_t to, std::uint32_t start) const;

  static constexpr std::uint32_t kNone = 0xffffffffu;

  bool ugal_;
  Picoseconds bias_;
  std::uint32_t groups_;
  std::uint32_t spines_;
  Divisor leaves_;        // per group
  Divisor leaf_links_;    // cables of a leaf to a spine
  Divisor ports_up_;      // of a leaf
  Divisor global_links_;  // ports of a spine
  GlobalCables cables_;
  HostLinks ends_;
  LinkId up_{0};    // first link up; index (leaf * spines_per_group + spine) * leaf_links + cable
  LinkId down_{0};  // first link down, in the same order
  LinkId global_{0};
  std::uint32_t links_{0};
};

}  // namespace manynode::network
