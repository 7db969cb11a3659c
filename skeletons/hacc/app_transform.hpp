// The three-dimensional transform over pencils, and the kernel between the two directions.
#pragma once

#include <mpi.h>

#include <vector>

#include "manynode/fftw_batch.hpp"
#include "manynode/mini_app.hpp"
#include "settings.hpp"

namespace manynode::hacc {

using PhaseLabel = manynode::PhaseLabel<Work>;

struct Place {
  std::int64_t x{0};
  std::int64_t y{0};
  std::int64_t z{0};
};

// Cells by which the kernel shifts the field: a different number along each axis.
inline constexpr Place kShift = {1, 2, 3};

class Transform {
 public:
  Transform(const Shape& shape, int rank);

  // Solves once: transform, kernel, transform back. The last transform back, along z, belongs to the next compute
  // phase: that of the next solution or of `finish`.
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

  // The ranks that exchange pencils. The blocks for all members are contiguous, in the order of `ranks`.
  struct Group {
    std::vector<int> ranks;  // of the world
    int own{0};
    std::vector<std::int64_t> sent, received;              // cells
    std::vector<std::int64_t> sent_first, received_first;  // cells before them
  };

  Range part(int number, int parts) const { return {shape_.first(number, parts), shape_.length(number, parts)}; }
  static Group group(std::vector<int> ranks, int own, std::vector<std::int64_t> sent,
                     std::vector<std::int64_t> received);
  // Sends `sent_` and receives `received_`; with `back`, the sizes are swapped.
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
  FftwBuffer pencils_, sent_, received_;
  Group row_, column_;
  FftwBatch forward_z_, back_z_, forward_y_, back_y_, forward_x_, back_x_;
  std::vector<Complex> phase_x_, phase_y_, phase_z_;  // of the kernel, by wave number
  std::vector<MPI_Request> requests_;
  bool cut_{false};
};

}  // namespace manynode::hacc
