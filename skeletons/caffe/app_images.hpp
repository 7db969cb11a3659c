// The images: ten kinds of shifted waves with noise. Every image is a function of its number: nothing is read, and
// every run sees the same images.
#pragma once

#include <cstdint>
#include <span>

#include "manynode/splitmix.hpp"

namespace manynode::caffe {

// A random sequence for each seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() { return splitmix_mixed(state_ += kSplitmixStep); }

  // In [-1, 1).
  double number() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

// Writes image `number` (side x side) and returns its class.
int make_image(std::uint64_t number, int side, std::span<double> pixels);

}  // namespace manynode::caffe
