// The sparse matrix of one grid of one rank, its halo, and the kernels on them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "geometry.hpp"
#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::hpcg {

using Vector = std::vector<double>;

using PhaseLabel = manynode::PhaseLabel<Work>;

// 27-point stencil on this rank's part of the global grid: 26 on the diagonal, -1 beside it; rows at the domain's
// border are shorter. Columns below rows() are this rank's own points. The others are the halo's, in the order of the
// neighbours.
class Matrix {
 public:
  Matrix(const Triple& process_grid, int rank, const Triple& local);

  const Triple& local() const { return local_; }
  std::int32_t rows() const { return rows_; }
  std::int32_t columns() const { return columns_; }

  // Fetches the neighbours' values into x's halo.
  void exchange_halo(Vector& x) const;

  // y = A x, with x's halo up to date.
  void multiply(const Vector& x, Vector& y) const;

  // One forward and one backward Gauss-Seidel sweep for A x = b, with x's halo up to date and unchanged.
  void smooth(const Vector& b, Vector& x) const;

  // The right-hand side whose solution is 1 everywhere.
  Vector row_sums() const;

 private:
  struct Halo {
    int rank{0};
    std::int32_t first_column{0};         // of the values from the neighbour
    std::vector<std::int32_t> send_rows;  // sent to the neighbour
  };

  void number_halo(const Triple& process_grid, int rank, std::vector<std::int32_t>& column_of_point);
  std::size_t framed_index(int x, int y, int z) const;
  double off_diagonal_removed(std::int32_t row, const Vector& b, const Vector& x) const;

  Triple local_;
  std::int32_t rows_;
  std::int32_t columns_;
  std::vector<std::int64_t> row_start_;
  std::vector<std::int32_t> column_;
  std::vector<double> value_;
  std::vector<double> diagonal_;
  std::vector<Halo> halos_;
  mutable std::vector<double> send_buffer_;
  mutable std::vector<MPI_Request> requests_;
};

}  // namespace manynode::hpcg
