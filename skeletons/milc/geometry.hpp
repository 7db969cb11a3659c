// Positions of the ranks on the lattice and their exchanges: shared by the mini-app and the skeleton, which therefore
// cannot differ.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace manynode::milc {

inline constexpr std::size_t kAxes = 4;
using Quad = std::array<int, kAxes>;  // x, y, z, t

// The prime factors of `size`, the largest first, each assigned to the axis with the fewest ranks (ties go to the last
// axis): the lattice of a power of 16 ranks is a hypercube.
inline Quad process_grid(int size) {
  Quad grid{1, 1, 1, 1};
  const auto deal = [&grid](int factor) {
    std::size_t fewest = 0;
    for (std::size_t axis = 1; axis < kAxes; ++axis) {
      if (grid[axis] <= grid[fewest]) {
        fewest = axis;
      }
    }
    grid[fewest] *= factor;
  };
  std::array<int, 32> factors{};
  std::size_t count = 0;
  for (int factor = 2; size > 1;) {
    if (factor > size / factor) {
      factor = size;  // the rest is prime
    }
    if (size % factor == 0) {
      factors[count++] = factor;
      size /= factor;
    } else {
      ++factor;
    }
  }
  while (count > 0) {
    deal(factors[--count]);
  }
  return grid;
}

inline Quad place_of(const Quad& grid, int rank) {
  Quad place{};
  for (std::size_t axis = 0; axis < kAxes; rank /= grid[axis++]) {
    place[axis] = rank % grid[axis];
  }
  return place;
}

// The rank next to `rank` along `axis`; the lattice is periodic.
inline int neighbour(const Quad& grid, int rank, std::size_t axis, int step) {
  int stride = 1;
  for (std::size_t i = 0; i < axis; ++i) {
    stride *= grid[i];
  }
  const int here = place_of(grid, rank)[axis];
  const int there = (here + step + grid[axis]) % grid[axis];
  return rank + (there - here) * stride;
}

inline std::int64_t volume(const Quad& extents) {
  return std::int64_t{1} * extents[0] * extents[1] * extents[2] * extents[3];
}

// Sites of one parity in the slices that a gather from `distance` sites away fetches. All extents are even.
inline std::int64_t gathered_sites(const Quad& local, std::size_t axis, int distance) {
  return volume(local) / local[axis] * distance / 2;
}

}  // namespace manynode::milc
