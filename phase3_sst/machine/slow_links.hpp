// A topology some of whose cables are slower than their class: everything is as in the topology itself, but each of
// these cables has a class of links of its own, so that engines and tables need not know.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology.hpp"

namespace manynode::network {

// A cable between two ends as Topology::describe names them, in either order; both its directions are slow.
struct SlowCable {
  std::string one;
  std::string other;
};

// The class of the slow links that were of `link_class`; `cable` is the number of the cable in the list.
std::string slow_class(const std::string& link_class, std::size_t cable);

// Throws UserError at `place` for a cable that is not there. A pair that is named again means its next parallel cable.
std::shared_ptr<const Topology> with_slow_cables(std::shared_ptr<const Topology> topology,
                                                 const std::vector<SlowCable>& cables, const std::string& place);

}  // namespace manynode::network
