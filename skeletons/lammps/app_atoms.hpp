// The atoms of one rank, its ghosts, and their communication, after LAMMPS' brick decomposition (comm_brick.cpp).
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::lammps {

using PhaseLabel = manynode::PhaseLabel<Work>;

using Vector = std::array<double, 3>;

class Atoms {
 public:
  // The atoms of this rank's part of the crystal, with random velocities whose mean and temperature are not yet set.
  Atoms(const Settings& settings, int rank, int size);

  // Number of own atoms; ghosts follow them in `positions` up to `all`.
  std::size_t count() const { return velocities_.size(); }
  std::size_t all() const { return all_; }
  std::int64_t total() const { return total_; }
  const Vector& low() const { return low_; }
  const Vector& high() const { return high_; }
  const Vector& box() const { return box_; }

  std::vector<Vector>& positions() { return positions_; }
  std::vector<Vector>& velocities() { return velocities_; }
  const std::vector<std::int64_t>& numbers() const { return numbers_; }

  // Starts exchange(), up to its first MPI call: moves atoms that left the periodic box to its other side, and removes
  // those that left this rank's part along x.
  void prepare_exchange();
  // Sends atoms to the ranks that now own them.
  void exchange();
  // Finds the atoms that neighbours need, and gets theirs.
  void borders();
  // Gets the new positions of the same ghosts.
  void forward();

 private:
  // Ghosts to one side of an axis.
  struct Swap {
    std::size_t axis{0};
    int to{MPI_PROC_NULL};
    int from{MPI_PROC_NULL};
    double shift{0};  // across the periodic boundary
    int doubles{0};   // of a message; 0 along an axis with one rank
    std::size_t room{0};
    std::size_t first{0};
    std::vector<std::int32_t> sent;
    std::vector<double> buffer;
  };

  // Atoms received from one side and not yet added.
  struct Entered {
    std::vector<double> doubles;
    int atoms{0};
  };

  void take_out(std::size_t axis);
  void take_in(std::size_t axis);
  void select(Swap& swap, std::size_t candidates, bool low_side) const;
  void pack(Swap& swap);
  void send(Swap& swap, int number, MPI_Request& request) const;

  Triple grid_;
  Vector low_{}, high_{}, box_{};
  std::int64_t total_{0};
  std::vector<Vector> positions_;
  std::vector<Vector> velocities_;
  std::vector<std::int64_t> numbers_;
  std::size_t all_{0};
  std::array<Swap, kSwaps> swaps_;
  std::array<int, 3> leaving_doubles_{};  // of a message; 0 along an axis with one rank
  std::vector<double> left_;              // of the axis that is being exchanged
  int leaving_{0};
  std::array<Entered, 2> entered_;
};

}  // namespace manynode::lammps
