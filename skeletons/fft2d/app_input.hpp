// The input of FFT2d and the expected results of its transforms. Both are functions of the place in the matrix: any
// rank can compute them for any place.
#pragma once

#include <complex>
#include <cstdint>

#include "manynode/splitmix.hpp"
#include "shape.hpp"

namespace manynode::fft2d {

using Complex = std::complex<double>;

// Both parts lie in [-0.5, 0.5).
inline Complex input(const Shape& shape, std::int64_t row, std::int64_t column) {
  const auto place = static_cast<std::uint64_t>(row * shape.columns + column);
  const auto part = [](std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5; };
  return {part(random_bits(2 * place)), part(random_bits(2 * place + 1))};
}

struct Place {
  std::int64_t row{0};
  std::int64_t column{0};
};

inline Place mirrored(const Shape& shape, const Place& place) {
  return {(shape.rows() - place.row) % shape.rows(), (shape.columns - place.column) % shape.columns};
}

// The contribution of `rank`'s input to the value at `place` after `transforms` transforms, each scaled to keep the sum
// of squares: two transforms mirror the input at the origin, four restore it. For odd numbers of transforms it is
// computed from the definition.
Complex expected_part(const Shape& shape, int rank, int transforms, Place place);

}  // namespace manynode::fft2d
