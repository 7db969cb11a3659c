// Torus of any number of dimensions, each a ring or, in `mesh`, a row without the link from its last switch to its
// first. Switch numbers run fastest in the first dimension, and hosts are numbered switch
// by switch, as in SST's merlin. Each switch has as many cables as links_per_direction, or the dimension's entry of
// links_by_dimension, says to its next neighbour in each dimension ("plus"; in a ring the first follows the last) and
// as many to the previous one ("minus"). A ring of size 2 is closed too: its two switches share twice as many cables,
// as in merlin and SimGrid. A row of size 2 has one such bundle (axes a and c of Tofu-D). A dimension of size 1 has no
// links.
//
// Routing: dimension order, first dimension first, in each the shorter way round (in a row the only way). If both ways
// are equally long (half an even ring), half of the pairs goes each way. The parity of a sum decides: the coordinates
// of both switches, the destination's number on its switch, and its coordinate in this dimension. The cable of a
// direction is that sum modulo the cables of the direction (half the sum if its parity has chosen the way). The sum
// grows by one for the next host of a switch and for the next switch of either end. Therefore consecutive destinations
// spread over the cables for any sender, a sender's messages spread too, and single hosts of switches spread by their
// switch. The sum does not include both host numbers within the switch: a shift, in which both grow, would then use
// only every other cable.
//
// "dimension-order-plus" follows SST's merlin: pairs half a ring apart all go plus, and the cable is the number of
// remaining switches modulo the cables, which means that neighbours use one cable.
//
// Virtual channels: two, as in merlin, with a dateline at coordinate 0 of each ring (Dally and Seitz, "Deadlock-free
// message routing in multiprocessor interconnection networks", 1987). A chunk that passes this switch or turns there
// changes its channel; one that turns elsewhere begins on channel 0. Rows need no dateline, but merlin's mesh has one.
#pragma once

#include <vector>

#include "topologies/divisor.hpp"
#include "topology.hpp"

namespace manynode::network {

class Torus final : public Topology {
 public:
  // `shape` and `links_by_dimension` have one entry per dimension; all numbers are at least 1. `mesh` has the numbers
  // of the dimensions that are rows. Throws UserError (`place` names the object) for an empty shape, and if parts do
  // not fit 31 bits or routes exceed 255 links. `balanced`: dimension-order; else dimension-order-plus.
  Torus(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch,
        const std::vector<std::int64_t>& links_by_dimension, const std::vector<std::int64_t>& mesh,
        const std::string& place, bool balanced = true);
  // With rings only, and the same number of cables everywhere.
  Torus(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch, std::int64_t links_per_direction,
        const std::string& place, bool balanced = true);

  std::string kind() const override { return "torus"; }
  std::uint32_t hosts() const override { return hosts_; }
  std::uint32_t switches() const override { return switches_; }
  std::uint32_t links() const override { return links_; }
  std::uint32_t max_hops() const override { return max_hops_; }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override;
  bool has_directions() const override { return true; }
  std::uint32_t direction(std::uint32_t source, std::uint32_t destination) const override;
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
    Divisor width;         // cables of a direction
    Divisor senders;       // switches of this and all earlier dimensions that have a link of one direction
    bool open;             // a row
    LinkId plus;           // first link of the direction; the link's index is sender * width + k (see link_from)
    LinkId minus;
  };

  static constexpr std::size_t kMostDimensions = 31;

  // `high`: the number of the row or ring of `at` among those that are apart in later dimensions.
  LinkId link_from(const Dimension& dimension, std::uint32_t at, std::uint32_t high, bool plus,
                   std::uint32_t cable) const;
  std::uint32_t switch_before(const Dimension& dimension, LinkId link) const;
  const Dimension& dimension_of(LinkId link) const;
  // Coordinate, in the link's dimension, of the switch that the link leaves.
  std::uint32_t coordinate_before(LinkId link) const;
  std::string switch_name(std::uint32_t index) const;

  std::vector<Dimension> dimensions_;
  std::vector<std::uint32_t> shape_;
  Divisor hosts_per_switch_;
  std::uint32_t hosts_{0};
  std::uint32_t switches_{1};
  std::uint32_t links_{0};
  std::uint32_t max_hops_{2};
  bool balanced_;
};

}  // namespace manynode::network
