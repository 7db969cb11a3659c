// Parameters, phase names and message tags: shared by the mini-app and the skeleton. application.yaml declares the
// same; a test compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "geometry.hpp"
#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"

namespace manynode::lammps {

// The compute phases between MPI calls; README.md describes them.
enum class Work : std::uint8_t { Setup, Borders, Neighbour, Integrate, Pack, Force, Exchange, Final };

inline constexpr std::array<const char*, 8> kWorkNames = {"setup", "borders", "neighbour", "integrate",
                                                          "pack",  "force",   "exchange",  "final"};

constexpr const char* work_name(Work work) { return kWorkNames[static_cast<std::size_t>(work)]; }

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

inline const std::vector<ParameterDeclaration>& parameter_declarations() {
  constexpr double kMostCells = 256;
  static const std::vector<ParameterDeclaration> declarations = {
      {"nx", std::int64_t{4}, "unit cells of a rank in x, of 4 atoms each", 2, kMostCells},
      {"ny", std::int64_t{4}, "unit cells of a rank in y, of 4 atoms each", 2, kMostCells},
      {"nz", std::int64_t{4}, "unit cells of a rank in z, of 4 atoms each", 2, kMostCells},
      {"iterations", std::int64_t{100}, "time steps", 1, 1e9},
      {"every", std::int64_t{20}, "steps between two builds of the neighbour lists", 1, 50},
      {"thermo_every", std::int64_t{1}, "steps between two outputs of thermodynamic sums; the last step has one, too",
       1, 1e9},
      {"reductions", std::int64_t{3},
       "allreduces of a double in an output: kinetic and potential energy, virial, momentum in x, y and z", 1, 6},
      {"temperature", 1.44, "initial temperature, in units of the Lennard-Jones well's depth", 0, 10},
  };
  return declarations;
}

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
