// HPCG as its MPI calls: conjugate gradients with a multigrid preconditioner on a 3-D grid of ranks. README.md has the
// drawing; app.cpp is the program that makes them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::hpcg {

// The exchange of all ranks on one level, by direction.
struct Halo {
  std::array<int, kDirections.size()> rank_step{};
  std::array<std::uint64_t, kDirections.size()> bytes{};
};

class Hpcg : public Application {
 public:
  Hpcg(const Settings& settings, int size);

  std::string name() const override { return kName; }
  // Only the phases that occur with these parameters and this number of ranks: a single rank packs nothing, and without
  // the preconditioner nothing is smoothed.
  std::vector<std::string> phases() const override { return phases_; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(settings_.iterations); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Settings& settings() const { return settings_; }
  const Triple& grid() const { return grid_; }
  const Halo& halo(int level) const { return halos_[static_cast<std::size_t>(level)]; }
  Phase phase(Work work) const { return phase_of_work_[static_cast<std::size_t>(work)]; }

 private:
  Settings settings_;
  Triple grid_;
  std::vector<Halo> halos_;  // [level]
  std::vector<std::string> phases_;
  std::array<Phase, kWorkNames.size()> phase_of_work_{};
};

class HpcgRank : public Skeleton {
 public:
  HpcgRank(const Hpcg& application, int rank, int size);

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(iteration_, application_.settings().iterations); }

 private:
  void work(Mpi& mpi, Work work) const { mpi.compute(application_.phase(work)); }
  void exchange_halo(Mpi& mpi, int level) const;
  void dot_product(Mpi& mpi) const;
  void smooth(Mpi& mpi, int level) const;
  void multigrid(Mpi& mpi, int level) const;

  const Hpcg& application_;
  int rank_;
  std::uint32_t neighbours_;  // a bit for each of kDirections
  int iteration_{0};
};

}  // namespace manynode::hpcg
