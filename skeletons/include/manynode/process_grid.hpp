// Ranks on a 3-D grid, x running fastest: shared by the mini-apps and skeletons that divide a box among the ranks.
#pragma once

#include <array>
#include <cstdint>

namespace manynode {

using Triple = std::array<int, 3>;  // x, y, z

// A process grid of `size` ranks, as close to a cube as its divisors allow: minimum surface, x <= y <= z, as in the
// reference code (ComputeOptimalShapeXYZ).
inline Triple process_grid(int size) {
  Triple best{1, 1, size};
  // The surface of a box of n cells is 2 (xy + yz + zx).
  const auto surface = [](const Triple& grid) {
    const auto [x, y, z] = std::array<std::int64_t, 3>{grid[0], grid[1], grid[2]};
    return x * y + y * z + z * x;
  };
  for (int x = 1; x * x <= size / x; ++x) {
    if (size % x != 0) {
      continue;
    }
    for (int y = x; y <= size / x / y; ++y) {
      const Triple grid{x, y, size / x / y};
      if (size / x % y == 0 && surface(grid) < surface(best)) {
        best = grid;
      }
    }
  }
  return best;
}

inline Triple coordinates(const Triple& grid, int rank) {
  return {rank % grid[0], rank / grid[0] % grid[1], rank / (grid[0] * grid[1])};
}

// The rank of a neighbour in this direction minus the own rank.
inline int rank_step(const Triple& grid, const Triple& direction) {
  return direction[0] + grid[0] * (direction[1] + grid[1] * direction[2]);
}

// Points of a local grid that touch the neighbour in `direction`: a face, an edge or a corner. As many come back.
inline std::int64_t shared_points(const Triple& local, const Triple& direction) {
  std::int64_t points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    points *= direction[axis] == 0 ? local[axis] : 1;
  }
  return points;
}

}  // namespace manynode
