// Communication of the ranks: gradients go up the tree, summed on the way, and new weights go down.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "app_codec.hpp"
#include "app_network.hpp"
#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::caffe {

using PhaseLabel = manynode::PhaseLabel<Work>;

// Stochastic gradient descent with momentum, as Caffe's solver; only rank 0 uses one.
class Solver {
 public:
  // `images` of all ranks: the gradients are those of sums.
  Solver(Network& network, double images);

  void change(int layer, const Numbers& gradient);
  const Numbers& weights(int layer) const { return weights_[static_cast<std::size_t>(layer)]; }

 private:
  double rate_;
  std::array<Numbers, kLayers> weights_;  // exact ones: those of the network have been encoded
  std::array<Numbers, kLayers> velocity_;
};

// An iteration's messages; every rank makes the same calls, with MPI_PROC_NULL where it has no parent or child.
class Exchange {
 public:
  Exchange(const Settings& settings, Network& network, int rank, int size);

  // Before the forward pass.
  void expect_gradients();
  // The backward pass and the communication that it overlaps.
  void backward();
  // After the backward pass: new weights for the next iteration.
  void distribute();

 private:
  struct LayerMessages {
    std::array<Encoded, 2> from_child;
    Encoded to_parent;
    Encoded weights;
    std::array<MPI_Request, 2> gradients{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request weights_request{MPI_REQUEST_NULL};
  };

  void reduce(int layer);
  void apply(int layer);
  void send(const Encoded& data, int to, int tag);
  void send_weights(int layer);
  bool alone() const { return size_ == 1; }

  Network& network_;
  Solver solver_;
  int size_;
  int parent_;
  std::array<int, 2> children_;
  int height_;
  std::array<LayerMessages, kLayers> messages_;
  std::vector<MPI_Request> sent_;
};

}  // namespace manynode::caffe
