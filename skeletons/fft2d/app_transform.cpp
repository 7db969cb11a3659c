// Row transforms, all-to-all, column transforms, all-to-all back.
#include "app_transform.hpp"

#include <algorithm>
#include <cmath>

namespace manynode::fft2d {
namespace {

constexpr int kDoubles = 2;  // in a complex number

// target[j][i] = factor * source[i][j], in squares that fit the first-level cache. Walking whole columns would touch a
// cache line per element.
void transpose(const Complex* source, std::int64_t rows, std::int64_t columns, double factor, Complex* target) {
  constexpr std::int64_t kSide = 16;
  for (std::int64_t i0 = 0; i0 < rows; i0 += kSide) {
    for (std::int64_t j0 = 0; j0 < columns; j0 += kSide) {
      for (std::int64_t j = j0; j < std::min(j0 + kSide, columns); ++j) {
        for (std::int64_t i = i0; i < std::min(i0 + kSide, rows); ++i) {
          target[j * rows + i] = factor * source[i * columns + j];
        }
      }
    }
  }
}

std::int64_t most(const Shape& shape, int rank) {
  return std::max(shape.rows_per_rank * shape.columns, shape.columns_of(rank) * shape.rows());
}

}  // namespace

Transform::Transform(const Shape& shape, int rank)
    : shape_(shape),
      rank_(rank),
      own_columns_(shape.columns_of(rank)),
      rows_(shape.rows_per_rank * shape.columns),
      columns_(own_columns_ * shape.rows()),
      sent_(most(shape, rank)),
      received_(most(shape, rank)),
      row_transforms_(shape.columns, shape.rows_per_rank, FFTW_FORWARD, rows_),
      column_transforms_(shape.rows(), own_columns_, FFTW_FORWARD, columns_) {
  const auto own_block = static_cast<int>(kDoubles * shape.block(rank));
  for (int other = 0; other < shape.ranks; ++other) {
    row_counts_.push_back(static_cast<int>(kDoubles * shape.block(other)));
    row_starts_.push_back(static_cast<int>(kDoubles * shape.rows_per_rank * shape.first_column(other)));
    column_counts_.push_back(own_block);
    column_starts_.push_back(own_block * other);
  }
  const std::int64_t first = shape.rows_per_rank * rank;
  Complex* value = rows_.data();
  for (std::int64_t row = first; row < first + shape.rows_per_rank; ++row) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      *value++ = input(shape, row, column);
    }
  }
}

void Transform::execute() {
  {
    const PhaseLabel label(Work::Rows);
    if (cut_) {
      collect_rows();
    }
    row_transforms_.execute();
    cut_rows();
  }
  rows_to_columns();
  {
    const PhaseLabel label(Work::Columns);
    collect_columns();
    column_transforms_.execute();
    cut_columns();
  }
  columns_to_rows();
  cut_ = true;
}

void Transform::cut_rows() {
  Complex* to = sent_.data();
  for (int other = 0; other < shape_.ranks; ++other) {
    const Complex* from = rows_.data() + shape_.first_column(other);
    for (std::int64_t row = 0; row < shape_.rows_per_rank; ++row, from += shape_.columns) {
      to = std::copy_n(from, shape_.columns_of(other), to);
    }
  }
}

void Transform::collect_rows() {
  const Complex* from = received_.data();
  for (int other = 0; other < shape_.ranks; ++other) {
    const std::int64_t width = shape_.columns_of(other);
    Complex* to = rows_.data() + shape_.first_column(other);
    for (std::int64_t row = 0; row < shape_.rows_per_rank; ++row, to += shape_.columns, from += width) {
      std::copy_n(from, width, to);
    }
  }
  cut_ = false;
}

// The concatenated parts of all ranks are all rows of this rank's columns.
void Transform::collect_columns() { transpose(received_.data(), shape_.rows(), own_columns_, 1, columns_.data()); }

void Transform::cut_columns() {
  const double scale = 1 / std::sqrt(static_cast<double>(shape_.rows() * shape_.columns));
  transpose(columns_.data(), own_columns_, shape_.rows(), scale, sent_.data());
}

// Uses a plain all-to-all where all parts have the same size, as FFTW's own transposition over MPI does.
void Transform::rows_to_columns() {
  if (shape_.even()) {
    MPI_Alltoall(sent_.data(), row_counts_[0], MPI_DOUBLE, received_.data(), row_counts_[0], MPI_DOUBLE,
                 MPI_COMM_WORLD);
  } else {
    MPI_Alltoallv(sent_.data(), row_counts_.data(), row_starts_.data(), MPI_DOUBLE, received_.data(),
                  column_counts_.data(), column_starts_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }
}

void Transform::columns_to_rows() {
  if (shape_.even()) {
    MPI_Alltoall(sent_.data(), row_counts_[0], MPI_DOUBLE, received_.data(), row_counts_[0], MPI_DOUBLE,
                 MPI_COMM_WORLD);
  } else {
    MPI_Alltoallv(sent_.data(), column_counts_.data(), column_starts_.data(), MPI_DOUBLE, received_.data(),
                  row_counts_.data(), row_starts_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }
}

}  // namespace manynode::fft2d
