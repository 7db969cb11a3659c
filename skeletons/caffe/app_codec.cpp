// Quantisation of what is sent.
#include "app_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace manynode::caffe {
namespace {

constexpr double kSteps = 127;
constexpr std::size_t kEncodedBlock = sizeof(float) + kBlock;

void encode_block(std::span<const double> from, std::byte* to) {
  double largest = 0;
  for (const double value : from) {
    largest = std::max(largest, std::abs(value));
  }
  const auto scale = static_cast<float>(largest);
  std::memcpy(to, &scale, sizeof scale);
  to += sizeof scale;
  const double factor = scale > 0 ? kSteps / scale : 0;
  for (const double value : from) {
    *to++ = static_cast<std::byte>(static_cast<std::int8_t>(std::lround(value * factor)));
  }
}

void decode_block(const std::byte* from, bool add, std::span<double> to) {
  float scale = 0;
  std::memcpy(&scale, from, sizeof scale);
  from += sizeof scale;
  const double factor = scale / kSteps;
  for (double& value : to) {
    const double decoded = factor * static_cast<std::int8_t>(*from++);
    value = add ? value + decoded : decoded;
  }
}

std::size_t length(std::size_t block, std::size_t numbers) {
  return std::min<std::size_t>(kBlock, numbers - block * kBlock);
}

}  // namespace

void encode(std::span<const double> from, Encoded& to) {
  const std::int64_t count = blocks(static_cast<std::int64_t>(from.size()));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto block = static_cast<std::size_t>(i);
    encode_block(from.subspan(block * kBlock, length(block, from.size())), to.data() + block * kEncodedBlock);
  }
}

void decode(const Encoded& from, bool add, std::span<double> to) {
  const std::int64_t count = blocks(static_cast<std::int64_t>(to.size()));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const auto block = static_cast<std::size_t>(i);
    decode_block(from.data() + block * kEncodedBlock, add, to.subspan(block * kBlock, length(block, to.size())));
  }
}

}  // namespace manynode::caffe
