// The three-dimensional transform over pencils, and the kernel between the two directions.
#pragma once

#include <fftw3.h>
#include <mpi.h>

#include <complex>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "parameters.hpp"

namespace manynode::hacc {

// Names the compute phase in which it is made for the markers library; the last name given in a phase is the phase's.
// Closing the region keeps the name from phases that follow.
class PhaseLabel {
 public:
  explicit PhaseLabel(Work work) { MPI_Pcontrol(1, work_name(work)); }
  ~PhaseLabel() { MPI_Pcontrol(0); }
  PhaseLabel(const PhaseLabel&) = delete;
  PhaseLabel& operator=(const PhaseLabel&) = delete;
};

using Complex = std::complex<double>;

// Memory aligned as FFTW's vector code wants it.
class Buffer {
 public:
  explicit Buffer(std::int64_t elements)
      : data_(static_cast<Complex*>(fftw_malloc(static_cast<std::size_t>(elements) * sizeof(Complex)))) {
    if (data_ == nullptr) {
      throw std::bad_alloc();
    }
  }

  Complex* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(Complex* data) const { fftw_free(data); }
  };
  std::unique_ptr<Complex, Free> data_;
};

// `count` transforms of `length` elements each, one behind the other, in place.
class Batch {
 public:
  Batch(std::int64_t length, std::int64_t count, int sign, const Buffer& buffer);

  void execute() const { fftw_execute(plan_.get()); }

 private:
  struct Destroy {
    void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
  };
  std::unique_ptr<std::remove_pointer_t<fftw_plan>, Destroy> plan_;
};

struct Place {
  std::int64_t x{0};
  std::int64_t y{0};
  std::int64_t z{0};
};

// By how many cells the kernel moves the field: a different number along each axis.
inline constexpr Place kShift = {1, 2, 3};

class Transform {
 public:
  Transform(const Shape& shape, int rank);

  // Solves once: transform, kernel, transform back. The last transform back, along z, is part of the compute phase that
  // follows: of the next solution or of `finish`.
  void solve();
  void finish();

  // This rank's z-pencils: calls `use(place, value)` for each cell.
  template <typename Use>
  void for_each_cell(const Use& use) {
    Complex* value = pencils_.data();
    for (std::int64_t x = x_.first; x < x_.first + x_.length; ++x) {
      for (std::int64_t y = y_in_row_.first; y < y_in_row_.first + y_in_row_.length; ++y) {
        for (std::int64_t z = 0; z < shape_.side; ++z) {
          use(Place{x, y, z}, *value++);
        }
      }
    }
  }

 private:
  struct Range {
    std::int64_t first{0};
    std::int64_t length{0};
  };

  // The ranks among which pencils are turned. Blocks for and from each member lie one behind the other.
  struct Group {
    std::vector<int> ranks;  // of the world
    int own{0};
    std::vector<std::int64_t> sent, received;              // cells
    std::vector<std::int64_t> sent_first, received_first;  // cells before them
  };

  Range part(int number, int parts) const { return {shape_.first(number, parts), shape_.length(number, parts)}; }
  static Group group(std::vector<int> ranks, int own, std::vector<std::int64_t> sent,
                     std::vector<std::int64_t> received);
  // Sends `sent_` and receives `received_`, or with `back` as many the other way round.
  void exchange(const Group& group, int tag, bool back);

  void cut_z();
  void collect_y();
  void cut_y();
  void collect_x();
  void apply_kernel();
  void cut_x();
  void collect_y_back();
  void cut_y_back();
  void collect_z();

  Shape shape_;
  Range x_, y_in_row_;  // of z-pencils; y-pencils have the same x
  Range z_, y_;         // of x-pencils; y-pencils have the same z
  Buffer pencils_, sent_, received_;
  Group row_, column_;
  Batch forward_z_, back_z_, forward_y_, back_y_, forward_x_, back_x_;
  std::vector<Complex> phase_x_, phase_y_, phase_z_;  // of the kernel, by wave number
  std::vector<MPI_Request> requests_;
  bool cut_{false};
};

}  // namespace manynode::hacc
