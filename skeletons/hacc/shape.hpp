// The cube and its pencils: shared by the mini-app and the skeleton, which therefore cannot differ.
#pragma once

#include <cstdint>
#include <string>

#include "manynode/error_report.hpp"

namespace manynode::hacc {

// A cube of side^3 cells in pencils along z, then y, then x. Ranks form a grid of rows x columns; rank r is in row
// r / columns. The ranks of a row exchange z-pencils for y-pencils, those of a column y-pencils for x-pencils.
//
//   z-pencil: x in part `row` of rows,   y in part `column` of columns
//   y-pencil: x in part `row` of rows,   z in part `column` of columns
//   x-pencil: y in part `row` of rows,   z in part `column` of columns
struct Shape {
  int rows{1};
  int columns{1};
  std::int64_t side{1};

  int row_of(int rank) const { return rank / columns; }
  int column_of(int rank) const { return rank % columns; }
  int rank_at(int row, int column) const { return row * columns + column; }

  // First cell and length of part `part` if the side is divided into `parts` parts; lengths differ by at most 1.
  std::int64_t first(int part, int parts) const { return side * part / parts; }
  std::int64_t length(int part, int parts) const { return first(part + 1, parts) - first(part, parts); }

  // Cells that two ranks of a row, or two of a column, send each other; the inverse transform sends as many back.
  std::int64_t in_row(int row, int from, int to) const {
    return length(row, rows) * length(from, columns) * length(to, columns);
  }
  std::int64_t in_column(int column, int from, int to) const {
    return length(column, columns) * length(from, rows) * length(to, rows);
  }
};

// Whether its transforms are fast: no prime factor above 5.
inline bool smooth(std::int64_t side) {
  for (const std::int64_t factor : {2, 3, 5}) {
    while (side % factor == 0) {
      side /= factor;
    }
  }
  return side == 1;
}

// The largest cube with a smooth side and at most `elements` cells for each of `ranks`, on a grid of ranks as close to
// a square as their number allows.
inline Shape shape(std::int64_t elements, int ranks) {
  Shape out;
  for (int rows = 1; rows <= ranks / rows; ++rows) {
    out.rows = ranks % rows == 0 ? rows : out.rows;
  }
  out.columns = ranks / out.rows;
  for (std::int64_t side = 1; side * side * side <= elements * ranks; ++side) {
    out.side = smooth(side) ? side : out.side;
  }
  if (out.side < out.columns) {
    throw UserError("the cube of hacc has fewer planes than there are ranks in a row", "elements",
                    std::to_string(elements) + ", a side of " + std::to_string(out.side),
                    "a side of at least " + std::to_string(out.columns), "give each rank more elements");
  }
  return out;
}

}  // namespace manynode::hacc
