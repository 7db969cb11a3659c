// One rank's part of the sparse matrix and its products, stored as in a linear-algebra library: each row has columns
// and values. Entries of other ranks follow the own ones.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::spmv {

using PhaseLabel = manynode::PhaseLabel<Work>;

// [point][column]: all columns of a point side by side.
using Multivector = std::vector<double>;

// The seven-point Laplace operator with a boundary of zeros: 6 on the diagonal, -1 for each neighbour.
class Matrix {
 public:
  Matrix(const Settings& settings, int rank, int size);

  std::int64_t rows() const { return settings_.rows(); }
  // Number of points, including those from neighbours.
  std::int64_t points() const { return points_; }
  Multivector multivector() const { return Multivector(static_cast<std::size_t>(points_ * settings_.columns)); }

  // The point's place in the global grid.
  Triple place(std::int64_t row) const;
  // Points of the global grid.
  const Triple& global() const { return global_; }
  double largest_eigenvalue() const;

  // Gets the neighbours' values at their faces.
  void exchange(Multivector& x);
  // y = factor * A x.
  void multiply(const Multivector& x, double factor, Multivector& y) const;

 private:
  struct Exchange {
    Face face;
    std::vector<std::int32_t> sent;  // rows at the face
    std::vector<double> buffer;
    std::int64_t first{0};  // first point of the received values
  };

  Settings settings_;
  Triple origin_{};
  Triple global_{};
  std::int64_t points_{0};
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
  std::vector<std::size_t> row_end_;
  std::vector<Exchange> exchanges_;
  std::vector<MPI_Request> requests_;
};

}  // namespace manynode::spmv
