// The network of one rank: its weights, the forward pass of a batch, the backward pass layer by layer. Threads share
// the batch by whole images.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "app_layers.hpp"

namespace manynode::caffe {

class Network {
 public:
  Network(const Settings& settings, int threads);

  // Makes images `first_image`, `first_image` + 1, ... and returns the sum of their losses.
  double forward(std::uint64_t first_image);

  // The gradient of a layer's parameters, of the sum of the last batch's losses; layers from the last to the first.
  void backward(int layer);

  Numbers& parameters(int layer) { return parameters_[static_cast<std::size_t>(layer)]; }
  Numbers& gradient(int layer) { return gradients_[static_cast<std::size_t>(layer)]; }

 private:
  // Images [first, last) of a batch, of one thread.
  struct Slice {
    int first{0};
    int last{0};
    int thread{0};
  };
  template <typename Work>
  void on_slices(const Work& work) const;

  void forward_slice(std::uint64_t first_image, const Slice& slice);
  void backward_slice(int layer, const Slice& slice, double* gradient);
  void backward_convolution(int number, const Slice& slice, double* gradient);
  void softmax(const Slice& slice);

  Settings settings_;
  int threads_;
  std::array<Convolution, 2> convolutions_;
  std::array<FullyConnected, 2> full_;
  std::array<Numbers, kLayers> parameters_;
  std::array<Numbers, kLayers> gradients_;

  // [0]: the images; [n]: the outputs of layer n - 1. Changes are the losses' derivatives by them.
  std::array<Numbers, kLayers + 1> values_;
  std::array<Numbers, kLayers + 1> changes_;
  std::array<std::vector<std::int32_t>, 2> chosen_;  // of each convolution
  std::vector<int> kinds_;                           // of the images
  Numbers losses_;                                   // of the images

  std::vector<std::array<Convolution::Workspace, 2>> workspaces_;  // [thread]
  std::vector<Numbers> partial_gradients_;                         // [thread]
};

}  // namespace manynode::caffe
