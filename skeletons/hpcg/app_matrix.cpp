// The sparse matrix and its halo exchange.
#include "app_matrix.hpp"

namespace manynode::hpcg {

Matrix::Matrix(const Triple& process_grid, int rank, const Triple& local)
    : local_(local), rows_(local[0] * local[1] * local[2]), columns_(rows_) {
  // The column of each point of the local grid and of a frame of one point around it; -1 outside the domain.
  std::vector<std::int32_t> column_of_point(framed_index(local[0], local[1], local[2]) + 1, -1);
  std::int32_t row = 0;
  for (int z = 0; z < local[2]; ++z) {
    for (int y = 0; y < local[1]; ++y) {
      for (int x = 0; x < local[0]; ++x) {
        column_of_point[framed_index(x, y, z)] = row++;
      }
    }
  }
  number_halo(process_grid, rank, column_of_point);

  constexpr double kDiagonal = 26;
  constexpr double kOffDiagonal = -1;
  constexpr std::size_t kStencil = 27;
  row_start_.reserve(static_cast<std::size_t>(rows_) + 1);
  column_.reserve(kStencil * static_cast<std::size_t>(rows_));
  value_.reserve(kStencil * static_cast<std::size_t>(rows_));
  diagonal_.assign(static_cast<std::size_t>(rows_), kDiagonal);
  row_start_.push_back(0);
  for (int z = 0; z < local[2]; ++z) {
    for (int y = 0; y < local[1]; ++y) {
      for (int x = 0; x < local[0]; ++x) {
        const std::int32_t own = column_of_point[framed_index(x, y, z)];
        for (int dz = -1; dz <= 1; ++dz) {
          for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
              const std::int32_t column = column_of_point[framed_index(x + dx, y + dy, z + dz)];
              if (column >= 0) {
                column_.push_back(column);
                value_.push_back(column == own ? kDiagonal : kOffDiagonal);
              }
            }
          }
        }
        row_start_.push_back(static_cast<std::int64_t>(column_.size()));
      }
    }
  }
}

std::size_t Matrix::framed_index(int x, int y, int z) const {
  const auto width = static_cast<std::size_t>(local_[0] + 2);
  const auto depth = static_cast<std::size_t>(local_[1] + 2);
  return static_cast<std::size_t>(x + 1) +
         width * (static_cast<std::size_t>(y + 1) + depth * static_cast<std::size_t>(z + 1));
}

void Matrix::number_halo(const Triple& process_grid, int rank, std::vector<std::int32_t>& column_of_point) {
  std::size_t sent = 0;
  for (const Neighbour& neighbour : neighbours(process_grid, rank)) {
    Halo& halo = halos_.emplace_back();
    halo.rank = neighbour.rank;
    halo.first_column = columns_;
    // Both sides walk the shared points in the order z, y, x, so that values arrive in the order of their columns.
    const auto range = [&](std::size_t axis) -> std::array<int, 2> {
      switch (neighbour.direction[axis]) {
        case -1:
          return {0, 1};
        case 1:
          return {local_[axis] - 1, local_[axis]};
        default:
          return {0, local_[axis]};
      }
    };
    const auto [xs, ys, zs] = std::array{range(0), range(1), range(2)};
    const auto [dx, dy, dz] = neighbour.direction;
    for (int z = zs[0]; z < zs[1]; ++z) {
      for (int y = ys[0]; y < ys[1]; ++y) {
        for (int x = xs[0]; x < xs[1]; ++x) {
          halo.send_rows.push_back(column_of_point[framed_index(x, y, z)]);
          column_of_point[framed_index(x + dx, y + dy, z + dz)] = columns_++;
        }
      }
    }
    sent += halo.send_rows.size();
  }
  send_buffer_.resize(sent);
  requests_.resize(2 * halos_.size());
}

void Matrix::exchange_halo(Vector& x) const {
  std::size_t request = 0;
  for (const Halo& halo : halos_) {
    MPI_Irecv(x.data() + halo.first_column, static_cast<int>(halo.send_rows.size()), MPI_DOUBLE, halo.rank, kHaloTag,
              MPI_COMM_WORLD, &requests_[request++]);
  }
  if (!halos_.empty()) {
    const PhaseLabel label(Work::Pack);
    std::size_t i = 0;
    for (const Halo& halo : halos_) {
      for (const std::int32_t row : halo.send_rows) {
        send_buffer_[i++] = x[static_cast<std::size_t>(row)];
      }
    }
  }
  const double* start = send_buffer_.data();
  for (const Halo& halo : halos_) {
    MPI_Isend(start, static_cast<int>(halo.send_rows.size()), MPI_DOUBLE, halo.rank, kHaloTag, MPI_COMM_WORLD,
              &requests_[request++]);
    start += halo.send_rows.size();
  }
  // A rank without neighbours makes the call, too: it ends the compute phase before the exchange, so that runs on one
  // rank and on many have the same phases.
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void Matrix::multiply(const Vector& x, Vector& y) const {
  for (std::int32_t row = 0; row < rows_; ++row) {
    double sum = 0;
    for (std::int64_t k = row_start_[row]; k < row_start_[row + 1]; ++k) {
      sum += value_[k] * x[column_[k]];
    }
    y[row] = sum;
  }
}

double Matrix::off_diagonal_removed(std::int32_t row, const Vector& b, const Vector& x) const {
  double sum = b[row];
  for (std::int64_t k = row_start_[row]; k < row_start_[row + 1]; ++k) {
    sum -= value_[k] * x[column_[k]];
  }
  // The loop has no branch and also subtracted the diagonal's part.
  return sum + diagonal_[row] * x[row];
}

void Matrix::smooth(const Vector& b, Vector& x) const {
  for (std::int32_t row = 0; row < rows_; ++row) {
    x[row] = off_diagonal_removed(row, b, x) / diagonal_[row];
  }
  for (std::int32_t row = rows_ - 1; row >= 0; --row) {
    x[row] = off_diagonal_removed(row, b, x) / diagonal_[row];
  }
}

Vector Matrix::row_sums() const {
  Vector ones(static_cast<std::size_t>(columns_), 1.0);
  Vector sums(static_cast<std::size_t>(rows_));
  multiply(ones, sums);
  return sums;
}

}  // namespace manynode::hpcg
