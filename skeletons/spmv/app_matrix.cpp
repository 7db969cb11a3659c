// The matrix of Laplace's equation on a grid, its halo, and the product.
#include "app_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace manynode::spmv {

Matrix::Matrix(const Settings& settings, int rank, int size) : settings_(settings), points_(settings.rows()) {
  const Triple grid = process_grid(size);
  const Triple here = coordinates(grid, rank);
  const Triple& local = settings_.local;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    origin_[axis] = here[axis] * local[axis];
    global_[axis] = grid[axis] * local[axis];
  }
  for (const Face& face : faces(grid, rank)) {
    Exchange exchange;
    exchange.face = face;
    exchange.first = points_;
    points_ += shared_points(local, face.direction);
    exchanges_.push_back(exchange);
  }

  for (std::int64_t row = 0; row < rows(); ++row) {
    const Triple at = {static_cast<int>(row % local[0]), static_cast<int>(row / local[0] % local[1]),
                       static_cast<int>(row / local[0] / local[1])};
    columns_.push_back(static_cast<std::int32_t>(row));
    values_.push_back(6);
    std::int64_t stride = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int step : {-1, 1}) {
        const int there = at[axis] + step;
        if (there >= 0 && there < local[axis]) {
          columns_.push_back(static_cast<std::int32_t>(row + step * stride));
          values_.push_back(-1);
          continue;
        }
        // Beyond the face: the next of the neighbour's points, which arrive in the order of these rows.
        for (Exchange& exchange : exchanges_) {
          if (exchange.face.direction[axis] == step) {
            columns_.push_back(static_cast<std::int32_t>(exchange.first) +
                               static_cast<std::int32_t>(exchange.sent.size()));
            values_.push_back(-1);
            exchange.sent.push_back(static_cast<std::int32_t>(row));
          }
        }
      }
      stride *= local[axis];
    }
    row_end_.push_back(columns_.size());
  }
  for (Exchange& exchange : exchanges_) {
    exchange.buffer.resize(static_cast<std::size_t>(settings_.doubles(exchange.face)));
  }
  requests_.resize(2 * exchanges_.size());
}

Triple Matrix::place(std::int64_t row) const {
  const Triple& local = settings_.local;
  return {origin_[0] + static_cast<int>(row % local[0]), origin_[1] + static_cast<int>(row / local[0] % local[1]),
          origin_[2] + static_cast<int>(row / local[0] / local[1])};
}

// The eigenvalue of the product of the shortest sine waves that fit between the boundaries.
double Matrix::largest_eigenvalue() const {
  double sum = 0;
  for (const int points : global_) {
    sum += 2 + 2 * std::cos(std::numbers::pi / (points + 1));
  }
  return sum;
}

// A rank without neighbours also calls waitall, because the call ends the phase before it.
void Matrix::exchange(Multivector& x) {
  const std::int64_t columns = settings_.columns;
  MPI_Request* request = requests_.data();
  for (const Exchange& exchange : exchanges_) {
    MPI_Irecv(&x[static_cast<std::size_t>(exchange.first * columns)], static_cast<int>(exchange.buffer.size()),
              MPI_DOUBLE, exchange.face.rank, kFaceTag, MPI_COMM_WORLD, request++);
  }
  if (!exchanges_.empty()) {
    const PhaseLabel label(Work::Pack);
    for (Exchange& exchange : exchanges_) {
      double* to = exchange.buffer.data();
      for (const std::int32_t row : exchange.sent) {
        to = std::copy_n(&x[static_cast<std::size_t>(row * columns)], columns, to);
      }
    }
  }
  for (const Exchange& exchange : exchanges_) {
    MPI_Isend(exchange.buffer.data(), static_cast<int>(exchange.buffer.size()), MPI_DOUBLE, exchange.face.rank,
              kFaceTag, MPI_COMM_WORLD, request++);
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void Matrix::multiply(const Multivector& x, double factor, Multivector& y) const {
  const auto columns = static_cast<std::size_t>(settings_.columns);
  std::size_t next = 0;
  for (std::size_t row = 0; row < row_end_.size(); ++row) {
    double* const sum = &y[row * columns];
    std::fill_n(sum, columns, 0.0);
    for (; next < row_end_[row]; ++next) {
      const double value = factor * values_[next];
      const double* const from = &x[static_cast<std::size_t>(columns_[next]) * columns];
      for (std::size_t column = 0; column < columns; ++column) {
        sum[column] += value * from[column];
      }
    }
  }
}

}  // namespace manynode::spmv
