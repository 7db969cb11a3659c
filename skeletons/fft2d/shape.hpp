// The matrix and its parts: shared by the mini-app and the skeleton, which therefore cannot differ.
#pragma once

#include <cstdint>
#include <string>

#include "manynode/error_report.hpp"

namespace manynode::fft2d {

// Each rank has `rows_per_rank` whole rows; transposed, it has whole columns. Some ranks have one more column if the
// number of ranks does not divide the columns.
struct Shape {
  int ranks{1};
  std::int64_t rows_per_rank{0};
  std::int64_t columns{0};

  std::int64_t rows() const { return rows_per_rank * ranks; }
  std::int64_t first_column(int rank) const { return columns * rank / ranks; }
  std::int64_t columns_of(int rank) const { return first_column(rank + 1) - first_column(rank); }
  bool even() const { return columns % ranks == 0; }

  // Elements that a rank sends to `to` when rows become columns: its rows of the columns of `to`. As many come back.
  std::int64_t block(int to) const { return rows_per_rank * columns_of(to); }
};

// The shape closest to a square that is not higher than wide: the shortest rows that divide `elements` evenly.
// With 32 Ki elements, 128 ranks have 16 rows of 2,048 each, 256 ranks 8 of 4,096 (Eyerman et al., section 5.1).
inline Shape shape(std::int64_t elements, int ranks) {
  if (ranks > elements) {
    throw UserError("fft2d has more ranks than elements per rank", "elements", std::to_string(elements),
                    "at least " + std::to_string(ranks) + ", the number of ranks",
                    "give each rank more elements or use fewer ranks");
  }
  // rows() <= columns where rows_per_rank^2 * ranks <= elements; then also ranks <= columns.
  std::int64_t rows_per_rank = 1;
  for (std::int64_t more = 2; more * more * ranks <= elements; ++more) {
    rows_per_rank = elements % more == 0 ? more : rows_per_rank;
  }
  return {ranks, rows_per_rank, elements / rows_per_rank};
}

}  // namespace manynode::fft2d
