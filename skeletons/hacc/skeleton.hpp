// Three-dimensional Fourier transforms as their MPI calls: large messages among the ranks of rows and of columns.
// README.md has the drawing; app.cpp is the program that makes them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::hacc {

class Hacc : public Application {
 public:
  explicit Hacc(const Settings& settings) : settings_(settings) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return {kWorkNames.begin(), kWorkNames.end()}; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(settings_.iterations); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

  const Settings& settings() const { return settings_; }

 private:
  Settings settings_;
};

// A step is one solution: four exchanges. The first and the last also include the calls before and after the loop.
class HaccRank : public Skeleton {
 public:
  HaccRank(const Hacc& application, int rank) : application_(application), rank_(rank) {}

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(iteration_, application_.settings().iterations); }

 private:
  void work(Mpi& mpi, Work work) const { mpi.compute(Phase{static_cast<std::uint32_t>(work)}); }
  void row(Mpi& mpi) const;
  void column(Mpi& mpi) const;

  const Hacc& application_;
  int rank_;
  int iteration_{0};
};

}  // namespace manynode::hacc
