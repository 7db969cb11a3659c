// MILC's solver as its MPI calls: conjugate gradients for the staggered-fermion operator on a 4-D grid of ranks.
// README.md has the drawing; app.cpp is the program that makes them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "geometry.hpp"
#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::milc {

class Milc : public Application {
 public:
  Milc(const Settings& settings, int size);

  std::string name() const override { return kName; }
  // Only the phases that occur with these parameters and this number of ranks: a single rank packs nothing, and a
  // single iteration needs no new direction.
  std::vector<std::string> phases() const override { return phases_; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(settings_.iterations); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Settings& settings() const { return settings_; }
  const Quad& grid() const { return grid_; }
  const std::vector<Gather>& forward() const { return forward_; }
  const std::vector<Gather>& backward() const { return backward_; }
  std::uint64_t bytes(const Gather& gather) const;
  Phase phase(Work work) const { return phase_of_work_[static_cast<std::size_t>(work)]; }

 private:
  Settings settings_;
  Quad grid_;
  std::vector<Gather> forward_, backward_;
  std::vector<std::string> phases_;
  std::array<Phase, kWorkNames.size()> phase_of_work_{};
};

// A step is an iteration of conjugate gradients.
class MilcRank : public Skeleton {
 public:
  MilcRank(const Milc& application, int rank) : application_(application), rank_(rank) {}

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(iteration_, application_.settings().iterations); }

 private:
  void work(Mpi& mpi, Work work) const { mpi.compute(application_.phase(work)); }
  std::vector<Request> start(Mpi& mpi, const std::vector<Gather>& gathers) const;
  // `last` names the phase in which the operator ends.
  void dslash(Mpi& mpi, Work last) const;

  const Milc& application_;
  int rank_;
  int iteration_{0};
};

}  // namespace manynode::milc
