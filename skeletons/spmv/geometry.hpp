// The positions and neighbours of ranks: shared by the mini-app and the skeleton, which therefore cannot differ.
#pragma once

#include <cstdint>
#include <vector>

#include "manynode/process_grid.hpp"

namespace manynode::spmv {

struct Face {
  int rank{0};
  Triple direction{};  // one of them -1 or 1, the others 0
};

// Up to six neighbours, in rising order of rank. The domain is not periodic.
inline std::vector<Face> faces(const Triple& grid, int rank) {
  constexpr std::array<Triple, 6> kDirections = {{{0, 0, -1}, {0, -1, 0}, {-1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Triple here = coordinates(grid, rank);
  std::vector<Face> found;
  for (const Triple& direction : kDirections) {
    bool inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const int there = here[axis] + direction[axis];
      inside = inside && there >= 0 && there < grid[axis];
    }
    if (inside) {
      found.push_back({rank + rank_step(grid, direction), direction});
    }
  }
  return found;
}

}  // namespace manynode::spmv
