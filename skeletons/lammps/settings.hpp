// Builds the settings from the parameters that application.yaml declares; also message tags. The mini-app and the
// skeleton share this file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/lammps.hpp"
#include "geometry.hpp"
#include "manynode/error_report.hpp"

namespace manynode::lammps {

// Tags: the number of the swap (two per axis) and the kind of content.
inline constexpr int kSwaps = 6;
inline constexpr int kGhostTag = 0;
inline constexpr int kGhostCountTag = 10;
inline constexpr int kLeavingTag = 20;
inline constexpr int kLeavingCountTag = 30;

inline constexpr int kPositionDoubles = 3;  // of a ghost
inline constexpr int kAtomDoubles = 7;      // of an atom that leaves: position, velocity, number

// Sums over all ranks: of the velocities and their squares before the first step; of kinetic and potential energy of
// the first configuration; at the end of both energies, momentum (3), atoms, weighted squares of the velocities,
// weights.
inline constexpr int kVelocitySums = 4;
inline constexpr int kEnergySums = 2;
inline constexpr int kFinalSums = 8;

struct Settings {
  Triple cells{};
  int iterations{0};
  int every{1};
  int thermo_every{1};
  int reductions{1};
  double temperature{0};

  // Of steps from 1 to iterations.
  bool rebuilds(int step) const { return step % every == 0; }
  bool reduces(int step) const { return step % thermo_every == 0 || step == iterations; }
};

// From complete parameters; throws UserError if a rank has more atoms than are numbered in 32 bits.
inline Settings settings(const Parameters& parameters) {
  Settings out;
  constexpr std::array<const char*, 3> kNames = {"nx", "ny", "nz"};
  std::int64_t atoms = kAtomsInCell;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.cells[axis] = static_cast<int>(parameters.integer(kNames[axis], 2));
    atoms *= out.cells[axis];
  }
  constexpr std::int64_t kMostAtoms = std::int64_t{1} << 24;
  if (atoms > kMostAtoms) {
    throw UserError("the box of a rank of lammps is too large", "nx, ny, nz", std::to_string(atoms) + " atoms",
                    "at most " + std::to_string(kMostAtoms), "spread the problem over more ranks");
  }
  out.iterations = static_cast<int>(parameters.integer("iterations", 1));
  out.every = static_cast<int>(parameters.integer("every", 1));
  out.thermo_every = static_cast<int>(parameters.integer("thermo_every", 1));
  out.reductions = static_cast<int>(parameters.integer("reductions", 1));
  out.temperature = parameters.real("temperature", 0);
  return out;
}

}  // namespace manynode::lammps
