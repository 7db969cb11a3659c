// Positions of the ranks and their exchanges: shared by the mini-app and the skeleton, which therefore cannot differ.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "manynode/process_grid.hpp"

namespace manynode::hpcg {

struct Neighbour {
  int rank{0};
  Triple direction{};  // each -1, 0 or 1
};

// The 26 directions in which a rank may have a neighbour, in the order of the neighbours' ranks.
inline constexpr std::array<Triple, 26> kDirections = [] {
  std::array<Triple, 26> directions{};
  std::size_t i = 0;
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        if (x != 0 || y != 0 || z != 0) {
          directions[i++] = {x, y, z};
        }
      }
    }
  }
  return directions;
}();

// Bit i is set if there is a neighbour in direction i. The domain is not periodic.
inline std::uint32_t neighbour_bits(const Triple& grid, int rank) {
  const Triple here = coordinates(grid, rank);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kDirections.size(); ++i) {
    bool inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int there = here[axis] + kDirections[i][axis];
      inside = inside && there >= 0 && there < grid[axis];
    }
    bits |= inside ? 1u << i : 0u;
  }
  return bits;
}

// Up to 26 neighbours, in rising order of rank.
inline std::vector<Neighbour> neighbours(const Triple& grid, int rank) {
  const std::uint32_t bits = neighbour_bits(grid, rank);
  std::vector<Neighbour> found;
  for (std::size_t i = 0; i < kDirections.size(); ++i) {
    if ((bits >> i & 1u) != 0) {
      found.push_back({rank + rank_step(grid, kDirections[i]), kDirections[i]});
    }
  }
  return found;
}

inline Triple coarsened(const Triple& local) { return {local[0] / 2, local[1] / 2, local[2] / 2}; }

}  // namespace manynode::hpcg
