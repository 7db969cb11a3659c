// The computation of the layers for the images of one thread. Matrices are stored by rows; a layer's parameters are its
// weights, then its biases.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "app_codec.hpp"

namespace manynode::caffe {

// Convolution with kernels of kKernel x kKernel and zeros around the image, rectification, and the largest of each
// kPool x kPool values.
class Convolution {
 public:
  Convolution(int channels, int filters, int side);

  std::int64_t inputs() const { return std::int64_t{channels_} * side_ * side_; }
  std::int64_t outputs() const { return std::int64_t{filters_} * pooled_side_ * pooled_side_; }

  // Memory of one thread beside input and output.
  struct Workspace {
    Numbers patches;   // [channel and place in the kernel][pixel]
    Numbers response;  // [filter][pixel], before pooling
  };
  Workspace workspace() const;

  // For one image. `chosen` records which pixel of its filter became each output.
  void forward(const double* input, const double* parameters, Workspace& work, double* output,
               std::int32_t* chosen) const;

  // For one image: adds to `gradient`; writes the change for the previous layer to `input_change` unless it is null.
  void backward(const double* input, const double* output, const std::int32_t* chosen, const double* output_change,
                const double* parameters, Workspace& work, double* gradient, double* input_change) const;

 private:
  void make_patches(const double* input, Numbers& patches) const;
  void add_patches(const Numbers& patches, double* input) const;

  int channels_;
  int filters_;
  int side_;
  int pooled_side_;
  int pixels_;
  int patch_;  // values that one output depends on
};

// Every output depends on every input; with or without rectification.
class FullyConnected {
 public:
  FullyConnected(int inputs, int outputs, bool rectified) : inputs_(inputs), outputs_(outputs), rectified_(rectified) {}

  std::int64_t inputs() const { return inputs_; }
  std::int64_t outputs() const { return outputs_; }

  // For `images` images.
  void forward(int images, const double* input, const double* parameters, double* output) const;

  // As Convolution::backward; `output_change` becomes 0 where rectification blocks it.
  void backward(int images, const double* input, const double* output, double* output_change, const double* parameters,
                double* gradient, double* input_change) const;

 private:
  int inputs_;
  int outputs_;
  bool rectified_;
};

}  // namespace manynode::caffe
