// The distributed transform of one rank: its rows, its columns, and the way between them.
#pragma once

#include <fftw3.h>
#include <mpi.h>

#include <memory>
#include <new>
#include <span>
#include <vector>

#include "app_input.hpp"
#include "parameters.hpp"

namespace manynode::fft2d {

// Names the compute phase in which it is made for the markers library; the last name given in a phase is the phase's.
// Closing the region keeps the name from phases that follow.
class PhaseLabel {
 public:
  explicit PhaseLabel(Work work) { MPI_Pcontrol(1, work_name(work)); }
  ~PhaseLabel() { MPI_Pcontrol(0); }
  PhaseLabel(const PhaseLabel&) = delete;
  PhaseLabel& operator=(const PhaseLabel&) = delete;
};

// Memory aligned as FFTW's vector code wants it.
class Buffer {
 public:
  explicit Buffer(std::int64_t elements)
      : data_(static_cast<Complex*>(fftw_malloc(static_cast<std::size_t>(elements) * sizeof(Complex)))),
        elements_(static_cast<std::size_t>(elements)) {
    if (data_ == nullptr) {
      throw std::bad_alloc();
    }
  }

  Complex* data() { return data_.get(); }
  std::span<Complex> values() { return {data_.get(), elements_}; }

 private:
  struct Free {
    void operator()(Complex* data) const { fftw_free(data); }
  };
  std::unique_ptr<Complex, Free> data_;
  std::size_t elements_;
};

// `count` transforms of `length` elements each, one behind the other, in place.
class Batch {
 public:
  Batch(std::int64_t length, std::int64_t count, Buffer& buffer);

  void execute() const { fftw_execute(plan_.get()); }

 private:
  struct Destroy {
    void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
  };
  std::unique_ptr<std::remove_pointer_t<fftw_plan>, Destroy> plan_;
};

class Transform {
 public:
  Transform(const Shape& shape, int rank);

  // Replaces the matrix by its transform, scaled to keep the sum of squares. What comes back stays cut until
  // `collect_rows`, so that putting it into rows is part of the compute phase that follows.
  void execute();

  // Puts what came back into rows.
  void collect_rows();

  // This rank's rows, one behind the other.
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
  Buffer rows_;     // [row][column of all]
  Buffer columns_;  // [column][row of all]
  Buffer sent_;     // rank after rank: [row][column]
  Buffer received_;
  Batch row_transforms_;
  Batch column_transforms_;
  // Doubles for and from each rank, and where they start: of the parts of rows, of the parts of columns.
  std::vector<int> row_counts_, row_starts_, column_counts_, column_starts_;
  bool cut_{false};
};

}  // namespace manynode::fft2d
