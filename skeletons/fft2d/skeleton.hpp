// FFT2d as its MPI calls: two all-to-alls per transform. README.md has the drawing; app.cpp is the program that makes
// them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::fft2d {

class Fft2d : public Application {
 public:
  explicit Fft2d(const Settings& settings) : settings_(settings) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return {kWorkNames.begin(), kWorkNames.end()}; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(settings_.iterations); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

class Fft2dRank : public Skeleton {
 public:
  Fft2dRank(const Settings& settings, int rank);

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(iteration_, settings_.iterations); }

 private:
  void work(Mpi& mpi, Work work) const { mpi.compute(Phase{static_cast<std::uint32_t>(work)}); }

  Settings settings_;
  // Bytes for each rank if the ranks do not divide the columns evenly: this rank's rows of each rank's columns, and
  // this rank's columns of each rank's rows.
  std::vector<std::uint64_t> row_blocks_;
  std::vector<std::uint64_t> column_blocks_;
  int iteration_{0};
};

}  // namespace manynode::fft2d
