// Positions of the ranks and their exchanges: shared by the mini-app and the skeleton, which therefore cannot differ.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace manynode::hpcg {

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

// The rank of a neighbour in this direction minus the own rank.
inline int rank_step(const Triple& grid, const Triple& direction) {
  return direction[0] + grid[0] * (direction[1] + grid[1] * direction[2]);
}

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

// Points of a local grid that touch the neighbour in `direction`: a face, an edge or a corner. As many come back.
inline std::int64_t shared_points(const Triple& local, const Triple& direction) {
  std::int64_t points = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    points *= direction[axis] == 0 ? local[axis] : 1;
  }
  return points;
}

inline Triple coarsened(const Triple& local) { return {local[0] / 2, local[1] / 2, local[2] / 2}; }

}  // namespace manynode::hpcg
