// Lennard-Jones forces from neighbour lists.
#pragma once

#include "app_atoms.hpp"

namespace manynode::lammps {

// Sums over one rank's atoms; a pair with a ghost counts half, because the ghost's rank has the other half.
struct PairSums {
  double energy{0};
  double virial{0};
};

class Forces {
 public:
  // Lists the atoms within reach of each of the rank's atoms: each pair of own atoms once, and all ghosts.
  void build(Atoms& atoms);
  // Computes the forces on the rank's atoms. The potential is shifted to 0 at the cutoff to conserve energy.
  PairSums compute(Atoms& atoms);

  const std::vector<Vector>& forces() const { return forces_; }

 private:
  std::vector<Vector> forces_;
  std::vector<std::int32_t> neighbours_;  // concatenated lists of all atoms
  std::vector<std::size_t> end_;          // [atom] end of its list
  std::vector<std::int32_t> first_in_bin_;
  std::vector<std::int32_t> next_in_bin_;
};

}  // namespace manynode::lammps
