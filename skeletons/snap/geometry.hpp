// Positions of the ranks and order of their sweeps: shared by the mini-app and the skeleton, which therefore cannot
// differ.
#pragma once

#include <array>

namespace manynode::snap {

// Ranks in y and in z; every rank has the whole of x (Koch, Baker and Alcouffe).
struct ProcessGrid {
  int y{1};
  int z{1};
};

// As close to a square as the divisors of `size` allow, with y >= z: this fills the pipeline fastest.
inline ProcessGrid process_grid(int size) {
  int z = 1;
  for (int divisor = 1; divisor <= size / divisor; ++divisor) {
    if (size % divisor == 0) {
      z = divisor;
    }
  }
  return {size / z, z};
}

struct Place {
  int y{0};
  int z{0};
};

inline Place place_of(const ProcessGrid& grid, int rank) { return {rank % grid.y, rank / grid.y}; }

inline constexpr int kNoNeighbour = -1;

// The rank one step away in y and z; kNoNeighbour outside the domain, which is not periodic.
inline int neighbour(const ProcessGrid& grid, int rank, int step_y, int step_z) {
  const auto [y, z] = place_of(grid, rank);
  const bool inside = y + step_y >= 0 && y + step_y < grid.y && z + step_z >= 0 && z + step_z < grid.z;
  return inside ? rank + step_y + grid.y * step_z : kNoNeighbour;
}

// A pair of octants with the same direction in y and z, -1 or 1, and thus the same starting corner of the wavefront.
struct Corner {
  int y{0};
  int z{0};
};

// Each corner is beside the previous one: its wavefront follows the last one closely.
inline constexpr std::array<Corner, 4> kCorners = {{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}};

}  // namespace manynode::snap
