// Sparse matrix times multivector as its MPI calls: faces to up to six neighbours. README.md has the drawing; app.cpp
// is the program that makes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::spmv {

class Spmv : public Application {
 public:
  Spmv(const Settings& settings, int size);

  std::string name() const override { return kName; }
  // A single rank packs nothing.
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

// A step is a product; the first and the last also include the calls before and after the loop.
class SpmvRank : public Skeleton {
 public:
  SpmvRank(const Spmv& application, int rank) : application_(application), faces_(faces(application.grid(), rank)) {}

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(iteration_, application_.settings().iterations); }

 private:
  void work(Mpi& mpi, Work work) const { mpi.compute(application_.phase(work)); }
  void exchange(Mpi& mpi) const;

  const Spmv& application_;
  std::vector<Face> faces_;
  int iteration_{0};
};

}  // namespace manynode::spmv
