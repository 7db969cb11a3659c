// One rank's part of the distributed transform: its rows, its columns, and the transposition between them.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "app_input.hpp"
#include "manynode/fftw_batch.hpp"
#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::fft2d {

using PhaseLabel = manynode::PhaseLabel<Work>;

class Transform {
 public:
  Transform(const Shape& shape, int rank);

  // Replaces the matrix by its transform, scaled to keep the sum of squares. Received blocks stay separate until
  // `collect_rows`: assembling the rows belongs to the next compute phase.
  void execute();

  // Assembles the received blocks into rows.
  void collect_rows();

  // This rank's rows, concatenated.
  std::span<const Complex> rows() { return rows_.values(); }

 private:
  void cut_rows();
  void collect_columns();
  void cut_columns();
  void rows_to_columns();
  void columns_to_rows();

  Shape shape_;
  int rank_;
  std::int64_t own_columns_;
  FftwBuffer rows_;     // [row][column of all]
  FftwBuffer columns_;  // [column][row of all]
  FftwBuffer sent_;     // rank after rank: [row][column]
  FftwBuffer received_;
  FftwBatch row_transforms_;
  FftwBatch column_transforms_;
  // Doubles sent to and received from each rank, and where they start: for parts of rows and for parts of columns.
  std::vector<int> row_counts_, row_starts_, column_counts_, column_starts_;
  bool cut_{false};
};

}  // namespace manynode::fft2d
