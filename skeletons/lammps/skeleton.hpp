// Molecular dynamics as its MPI calls: six swaps of ghosts per step, occasional migration, small allreduces.
// README.md has the drawing; app.cpp is the program that makes them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::lammps {

class Lammps : public Application {
 public:
  Lammps(const Settings& settings, int size);

  std::string name() const override { return kName; }
  // Only the phases that occur with these parameters. Atoms move to other ranks when lists are built; between two
  // builds, only ghosts move.
  std::vector<std::string> phases() const override { return phases_; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(settings_.iterations); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Settings& settings() const { return settings_; }
  const Triple& grid() const { return grid_; }
  Phase phase(Work work) const { return phase_of_work_[static_cast<std::size_t>(work)]; }

 private:
  Settings settings_;
  Triple grid_;
  std::vector<std::string> phases_;
  std::array<Phase, kWorkNames.size()> phase_of_work_{};
};

// A step is a time step; the first also includes the calls before the loop, the last those after it.
class LammpsRank : public Skeleton {
 public:
  LammpsRank(const Lammps& application, int rank);

  bool step(Mpi& mpi) override;

 private:
  // The partners of a swap, and its bytes; MPI_PROC_NULL along an axis with one rank.
  struct Swap {
    int to{kProcNull};
    int from{kProcNull};
    std::uint64_t bytes{0};
  };

  void work(Mpi& mpi, Work work) const { mpi.compute(application_.phase(work)); }
  void exchange(Mpi& mpi) const;
  void borders(Mpi& mpi) const;
  void forward(Mpi& mpi) const;

  const Lammps& application_;
  std::array<Swap, kSwaps> ghosts_;
  std::array<Swap, kSwaps> leaving_;
  int step_{0};
};

}  // namespace manynode::lammps
