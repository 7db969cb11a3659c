// A topology with cables that are slower than their class. Each slow cable has its own class of links; everything else
// is as in the topology itself, and engines and tables need no special case.
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

// The new class of slow links of `link_class`; `cable` is the number of the cable in the list.
std::string slow_class(const std::string& link_class, std::size_t cable);

// Throws UserError at `place` for an unknown cable. Naming a pair again means its next parallel cable.
std::shared_ptr<const Topology> with_slow_cables(std::shared_ptr<const Topology> topology,
                                                 const std::vector<SlowCable>& cables, const std::string& place);

}  // namespace manynode::network
