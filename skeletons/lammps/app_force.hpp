// Lennard-Jones forces from neighbour lists.
#pragma once

#include "app_atoms.hpp"

namespace manynode::lammps {

// Of one rank's atoms; a pair with a ghost counts half, because the ghost's rank has the other half.
struct PairSums {
  double energy{0};
  double virial{0};
};

class Forces {
 public:
  // Lists, for each of the rank's atoms, those within reach: own ones once per pair, and ghosts.
  void build(Atoms& atoms);
  // Computes the forces on the rank's atoms; the potential is shifted to be 0 at the cutoff, so that energy is
  // conserved.
  PairSums compute(Atoms& atoms);

  const std::vector<Vector>& forces() const { return forces_; }

 private:
  std::vector<Vector> forces_;
  std::vector<std::int32_t> neighbours_;  // one atom's behind the other's
  std::vector<std::size_t> end_;          // [atom] of its neighbours
  std::vector<std::int32_t> first_in_bin_;
  std::vector<std::int32_t> next_in_bin_;
};

}  // namespace manynode::lammps
