// The direct transform.
#include "app_input.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace manynode::fft2d {
namespace {

// exp(-2 pi i n / period); n is reduced first, because it may be as large as the product of two indices.
Complex root_of_unity(std::int64_t n, std::int64_t period) {
  return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(n % period) / static_cast<double>(period));
}

Complex direct_part(const Shape& shape, int rank, const Place& place) {
  const std::int64_t first = shape.rows_per_rank * rank;
  std::vector<Complex> row_roots;
  for (std::int64_t row = first; row < first + shape.rows_per_rank; ++row) {
    row_roots.push_back(root_of_unity(row * place.row, shape.rows()));
  }
  Complex sum = 0;
  for (std::int64_t column = 0; column < shape.columns; ++column) {
    Complex of_column = 0;
    for (std::size_t i = 0; i < row_roots.size(); ++i) {
      of_column += input(shape, first + static_cast<std::int64_t>(i), column) * row_roots[i];
    }
    sum += of_column * root_of_unity(column * place.column, shape.columns);
  }
  return sum / std::sqrt(static_cast<double>(shape.rows() * shape.columns));
}

}  // namespace

Complex expected_part(const Shape& shape, int rank, int transforms, Place place) {
  if (transforms % 4 >= 2) {
    place = mirrored(shape, place);
  }
  if (transforms % 2 != 0) {
    return direct_part(shape, rank, place);
  }
  return place.row / shape.rows_per_rank == rank ? input(shape, place.row, place.column) : 0;
}

}  // namespace manynode::fft2d
