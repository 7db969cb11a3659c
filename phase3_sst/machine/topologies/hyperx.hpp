// HyperX (Ahn, Binkert, Davis, McLaren, Schreiber, "HyperX: topology, routing, and packaging of efficient large-scale
// networks", SC 2009): switches in a grid of any number of dimensions; in each dimension every two switches that differ
// in it alone share `links_by_dimension` cables. One dimension is a fully connected network, two are a flattened
// butterfly. Switch numbers run fastest in the first dimension, hosts are numbered switch by switch, as in SST's
// merlin.
//
// Routing:
// - "dimension-order": one link per dimension in which the switches differ, first dimension first. The sum of the
//   coordinates of both switches and of the destination's number on its switch, modulo the cables, chooses the cable.
// - "minimal-adaptive": at each switch the least loaded of all links that lead on a shortest route (merlin: MIN-A).
// - "valiant": in dimension order to a drawn switch, from there to the destination, over drawn cables (merlin:
// valiant).
//
// Virtual channels: minimal-adaptive takes the next one with each link between switches. Otherwise a chunk takes the
// next one where the dimension does not grow: channels and dimensions together only grow.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topologies/host_links.hpp"
#include "topology.hpp"

namespace manynode::network {

class HyperX final : public Topology {
 public:
  enum class Routing : std::uint8_t { DimensionOrder, MinimalAdaptive, Valiant };

  // Both lists have one entry per dimension, at least 1. Throws UserError (`place` names the object) for an empty
  // shape, and if parts do not fit 31 bits.
  HyperX(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch,
         const std::vector<std::int64_t>& links_by_dimension, Routing routing, const std::string& place);

  std::string kind() const override { return "hyperx"; }
  std::uint32_t hosts() const override { return ends_.hosts(); }
  std::uint32_t switches() const override { return switches_; }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override;
  bool adaptive() const override { return routing_ != Routing::DimensionOrder; }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const override;
  std::uint32_t host_behind(LinkId link) const override { return ends_.host_behind(link); }
  std::vector<std::string> link_classes() const override;
  std::uint8_t link_class(LinkId link) const override;
  std::uint32_t virtual_channels() const override;
  std::uint8_t virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const override;
  LinkDescription describe(LinkId link) const override;

 private:
  // A dimension of more than one switch.
  struct Dimension {
    Divisor size;
    std::uint32_t number;  // in the shape
    Divisor stride;        // between neighbours in it
    Divisor width;         // cables of a pair of switches
    LinkId first;          // index (switch * (size - 1) + other without switch) * width + cable
  };

  std::uint32_t coordinate(const Dimension& dimension, std::uint32_t at) const {
    return dimension.size.remainder(dimension.stride.quotient(at));
  }
  // The first cable from `at` to the switch with the coordinate of `to` in this dimension.
  LinkId first_link(const Dimension& dimension, std::uint32_t at, std::uint32_t to) const;
  std::size_t dimension_of(LinkId link) const;
  std::uint32_t switch_behind(LinkId link) const;
  // Appends the links in dimension order; `cable` chooses among the cables of a dimension.
  template <class Cable>
  std::uint32_t in_order(std::uint32_t at, std::uint32_t to, std::uint32_t hops, LinkId* out, Cable cable) const;
  std::string name_of(std::uint32_t index) const;

  Routing routing_;
  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> shape_;
  HostLinks ends_;
  std::uint32_t switches_{1};
  std::uint32_t links_{0};
};

}  // namespace manynode::network
