// Caffe's data-parallel training as its MPI calls: a binary tree of ranks for each layer. README.md has the drawing;
// app.cpp is the program that makes them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "manynode/skeleton.hpp"
#include "settings.hpp"

namespace manynode::caffe {

class Caffe : public Application {
 public:
  explicit Caffe(const Settings& settings) : settings_(settings) {}

  std::string name() const override { return kName; }
  std::vector<std::string> phases() const override { return {kWorkNames.begin(), kWorkNames.end()}; }
  std::optional<std::uint64_t> steps() const override { return static_cast<std::uint64_t>(settings_.iterations); }
  std::unique_ptr<Skeleton> make(int rank, int size) const override;

 private:
  Settings settings_;
};

class CaffeRank : public Skeleton {
 public:
  CaffeRank(const Settings& settings, int rank, int size);

  bool step(Mpi& mpi) override;
  bool repeat() override { return repeats(iteration_, iterations_); }

 private:
  // The messages of one iteration, by layer.
  struct Messages {
    std::array<std::array<Request, 2>, kLayers> gradients;  // from each child
    std::array<Request, kLayers> weights;                   // from the parent
    std::array<Request, 3 * kLayers> sent;
    std::size_t sent_count{0};
  };

  void work(Mpi& mpi, Work work) const { mpi.compute(Phase{static_cast<std::uint32_t>(work)}); }
  void iteration(Mpi& mpi) const;
  void reduce(Mpi& mpi, int layer, Messages& messages) const;
  void distribute(Mpi& mpi, int layer, Messages& messages) const;
  void send_weights(Mpi& mpi, int layer, Messages& messages) const;

  int iterations_;
  std::array<std::uint64_t, kLayers> bytes_;
  int parent_;
  std::array<int, 2> children_;
  int height_;
  int iteration_{0};
};

}  // namespace manynode::caffe
