// Torus of any number of dimensions. Switch numbers run fastest in the first dimension, and hosts are numbered switch
// by switch, as in SST's merlin. Each switch has links_per_direction cables to its next neighbour in each dimension
// ("plus"; the first follows the last) and as many to the previous one ("minus"). A dimension of size 2 also closes its
// ring: the two switches share twice links_per_direction cables, as in merlin and SimGrid. A dimension of size 1 has no
// links.
//
// Routing: dimension order, first dimension first, in each the shorter way round. If both ways are equally long (half
// an even ring), half of the pairs goes each way. The parity of a sum decides: the coordinates of both switches, the
// destination's number on its switch, and its coordinate in this dimension. The cable of a direction is that sum modulo
// links_per_direction (half the sum if its parity has chosen the way). The sum grows by one for the next host of a
// switch and for the next switch of either end. Therefore consecutive destinations spread over the cables for any
// sender, a sender's messages spread too, and single hosts of switches spread by their switch. The sum does not include
// both host numbers within the switch: a shift, in which both grow, would then use only every other cable.
//
// "dimension-order-plus" follows SST's merlin: pairs half a ring apart all go plus, and the cable is the number of
// remaining switches modulo links_per_direction, which means that neighbours use one cable.
//
// Virtual channels: two, as in merlin, with a dateline at coordinate 0 of each ring (Dally and Seitz, "Deadlock-free
// message routing in multiprocessor interconnection networks", 1987). A chunk that passes this switch or turns there
// changes its channel; one that turns elsewhere begins on channel 0.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topology.hpp"

namespace manynode::network {

class Torus final : public Topology {
 public:
  // `shape` has one entry per dimension; all numbers are at least 1. Throws UserError (`place` names the object) for an
  // empty shape, and if parts do not fit 31 bits or routes exceed 255 links.
  // `balanced`: dimension-order; else dimension-order-plus.
  Torus(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch, std::int64_t links_per_direction,
        const std::string& place, bool balanced = true);

  std::string kind() const override { return "torus"; }
  std::uint32_t hosts() const override { return hosts_; }
  std::uint32_t switches() const override { return switches_; }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override { return max_hops_; }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  std::uint32_t host_behind(LinkId link) const override;
  std::vector<std::string> link_classes() const override;
  std::uint8_t link_class(LinkId link) const override;
  std::uint32_t virtual_channels() const override { return 2; }
  std::uint8_t virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const override;
  LinkDescription describe(LinkId link) const override;

 private:
  // A dimension with more than one switch; there are at most 31, because switch numbers have 31 bits.
  struct Dimension {
    Divisor size;
    std::uint32_t number;  // in the shape
    Divisor stride;        // between switches that are neighbours in it
    LinkId plus;           // first link of the direction; the link's index is switch * links_per_direction + k
    LinkId minus;
  };

  static constexpr std::size_t kMostDimensions = 31;

  const Dimension& dimension_of(LinkId link) const;
  // Coordinate, in the link's dimension, of the switch that the link leaves.
  std::uint32_t coordinate_before(LinkId link) const;
  std::string switch_name(std::uint32_t index) const;

  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> shape_;
  Divisor hosts_per_switch_;
  Divisor links_per_direction_;
  std::uint32_t hosts_{0};
  std::uint32_t switches_{1};
  std::uint32_t links_{0};
  std::uint32_t max_hops_{2};
  bool balanced_;
};

}  // namespace manynode::network
