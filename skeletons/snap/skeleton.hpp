// SNAP as its MPI calls: transport sweeps in pipelined wavefronts over a 2-D grid of ranks. README.md has the drawing;
// app.cpp is the program that makes them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "geometry.hpp"
#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::snap {

class Snap : public Application {
 public:
  Snap(const Settings& settings, int size);

  std::string name() const override { return kName; }
  // With one inner iteration per outer one, there is no separate phase for the source within a group.
  std::vector<std::string> phases() const override { return phases_; }
  std::optional<std::uint64_t> steps() const override { return std::uint64_t{1} * settings_.outers * settings_.inners; }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Settings& settings() const { return settings_; }
  const ProcessGrid& grid() const { return grid_; }
  Phase phase(Work work) const { return phase_of_work_[static_cast<std::size_t>(work)]; }

 private:
  Settings settings_;
  ProcessGrid grid_;
  std::vector<std::string> phases_;
  std::array<Phase, kWorkNames.size()> phase_of_work_{};
};

// A step is an inner iteration.
class SnapRank : public Skeleton {
 public:
  SnapRank(const Snap& application, int rank) : application_(application), rank_(rank) {}

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(inner_, application_.settings().inners); }

 private:
  void work(Mpi& mpi, Work work) const { mpi.compute(application_.phase(work)); }
  int neighbour_or_null(int step_y, int step_z) const;
  void sweep(Mpi& mpi) const;

  const Snap& application_;
  int rank_;
  int outer_{0};
  int inner_{0};
};

}  // namespace manynode::snap
