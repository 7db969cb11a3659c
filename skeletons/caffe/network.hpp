// The network's layers, the tree of ranks, and the size of its messages: shared by the mini-app and the skeleton,
// which therefore cannot differ.
#pragma once

#include <array>
#include <cstdint>

namespace manynode::caffe {

// Two convolutions, each with rectification and pooling, and two fully connected layers.
enum class Layer : std::uint8_t { Convolution1, Convolution2, Full1, Full2 };

inline constexpr int kLayers = 4;
inline constexpr int kClasses = 10;
inline constexpr int kKernel = 5;  // side of a convolution's kernel
inline constexpr int kPool = 2;    // side of a pooling window

struct Settings {
  int images{0};   // of a rank in each iteration
  int side{0};     // of an image, in pixels
  int filters{0};  // of the first convolution; the second has twice as many
  int hidden{0};   // units of the first fully connected layer
  int iterations{0};
};

// Weights and biases of each layer.
inline std::array<std::int64_t, kLayers> layer_parameters(const Settings& settings) {
  const std::int64_t filters = settings.filters;
  const std::int64_t side = settings.side / (kPool * kPool);  // after two poolings
  const std::int64_t kernel = kKernel * kKernel;
  return {filters * (kernel + 1), 2 * filters * (kernel * filters + 1),
          settings.hidden * (2 * filters * side * side + 1), kClasses * (std::int64_t{settings.hidden} + 1)};
}

// Numbers travel as 8-bit integers, in blocks with a scale each.
inline constexpr std::int64_t kBlock = 256;

constexpr std::int64_t blocks(std::int64_t numbers) { return (numbers + kBlock - 1) / kBlock; }

constexpr std::int64_t encoded_bytes(std::int64_t numbers) {
  return numbers + blocks(numbers) * static_cast<std::int64_t>(sizeof(float));
}

// The binary tree of ranks with rank 0 at its root.
inline constexpr int kNobody = -1;

constexpr int parent_of(int rank) { return rank == 0 ? kNobody : (rank - 1) / 2; }

// `number` is 0 or 1.
constexpr int child_of(int rank, int number, int size) {
  const std::int64_t child = 2 * std::int64_t{rank} + 1 + number;
  return child < size ? static_cast<int>(child) : kNobody;
}

// Edges on the longest way down, which is that of the first children.
constexpr int height_of(int rank, int size) {
  int height = 0;
  for (int below = child_of(rank, 0, size); below != kNobody; below = child_of(below, 0, size)) {
    ++height;
  }
  return height;
}

constexpr int gradient_tag(int layer) { return 2 * layer; }
constexpr int weights_tag(int layer) { return 2 * layer + 1; }

}  // namespace manynode::caffe
