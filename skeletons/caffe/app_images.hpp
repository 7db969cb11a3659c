// The images: ten kinds of shifted waves with noise. Every image is a function of its number: nothing is read, and
// every run sees the same images.
#pragma once

#include <cstdint>
#include <span>

namespace manynode::caffe {

// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // In [-1, 1).
  double number() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; }

 private:
  std::uint64_t state_;
};

// Writes image `number` (side x side) and returns its class.
int make_image(std::uint64_t number, int side, std::span<double> pixels);

}  // namespace manynode::caffe
