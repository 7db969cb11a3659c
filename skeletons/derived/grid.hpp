// Grids of ranks, as manynode/derived/grids.py: extents by named rules, and the place of each rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace manynode::derived {

using Extents = std::vector<std::int64_t>;

inline constexpr int kMostDimensions = 8;

enum class Order { Descending, Ascending, Unsorted };

struct GridRule {
  std::string name;
  int dimensions{0};
  Order order{Order::Descending};
  bool ties_last{false};  // of equal choices the rule takes the last
};

// Extents whose product is `ranks`. An unknown name throws UserError.
Extents extents_of(const GridRule& rule, std::int64_t ranks);

// Without a grid, no extents.
struct Grid {
  Extents extents;
  Extents strides;  // how many ranks a step along each axis is
  std::vector<bool> periodic;

  std::size_t axes() const { return extents.size(); }
  std::int64_t coordinate(std::size_t axis, std::int64_t rank) const { return rank / strides[axis] % extents[axis]; }
};

Grid made_grid(Extents extents, std::vector<bool> periodic, bool first_fastest);

}  // namespace manynode::derived
