// Positions of the ranks in the box and lengths of their messages: shared by the mini-app and the skeleton, which
// therefore cannot differ. Lengths in units of the Lennard-Jones diameter.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "manynode/process_grid.hpp"

namespace manynode::lammps {

// LAMMPS' benchmark in.lj: reduced density, cutoff and skin.
inline constexpr double kDensity = 0.8442;
inline constexpr double kCutoff = 2.5;
inline constexpr double kSkin = 0.3;
inline constexpr double kReach = kCutoff + kSkin;
inline constexpr int kAtomsInCell = 4;

// The side of a face-centred cubic unit cell.
inline double cell_side() { return std::cbrt(kAtomsInCell / kDensity); }

// The rank next to `rank` along `axis`; the box is periodic.
inline int neighbour(const Triple& grid, int rank, std::size_t axis, int step) {
  Triple place = coordinates(grid, rank);
  place[axis] = (place[axis] + step + grid[axis]) % grid[axis];
  return place[0] + grid[0] * (place[1] + grid[1] * place[2]);
}

// Messages have their largest possible length, because a skeleton cannot know the number of atoms: the expected number
// in the volume, plus two times its root (fluctuations of a liquid are smaller) and a few more.
inline std::int64_t capacity(double volume) {
  const double expected = kDensity * volume;
  return static_cast<std::int64_t>(std::ceil(expected + 2 * std::sqrt(expected))) + 4;
}

// Atoms that one side of a rank's box sends to its neighbour along `axis`. Axes are exchanged one after the other:
// later ones include the ghosts of earlier ones. The layer is as thick as the reach of forces plus half a unit cell,
// because the position of a crystal's planes is arbitrary.
inline std::int64_t ghost_capacity(const Triple& cells, std::size_t axis) {
  const double side = cell_side();
  double volume = kReach + side / 2;
  for (std::size_t other = 0; other < 3; ++other) {
    if (other != axis) {
      volume *= cells[other] * side + (other < axis ? 2 * kReach : 0);
    }
  }
  return capacity(volume);
}

// Atoms that leave a rank's box through both faces of an axis between two builds of the neighbour lists: a layer of
// half a diameter.
inline std::int64_t leaving_capacity(const Triple& cells, std::size_t axis) {
  constexpr double kLayer = 0.5;
  const double side = cell_side();
  double volume = kLayer;
  for (std::size_t other = 0; other < 3; ++other) {
    volume *= other == axis ? 1 : cells[other] * side;
  }
  return capacity(volume);
}

}  // namespace manynode::lammps
