// An all-to-all within each row of a 2-D grid of ranks, then within each column, as in a parallel Fourier transform.
#include "grid.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class Transpose final : public Pattern {
 public:
  Transpose(const std::array<int, 2>& dims, std::uint64_t bytes) : dims_(dims), bytes_(bytes) {}

  void prepare(Mpi& mpi, Groups& groups) const override {
    const Communicator grid = mpi.cart(kWorld, dims_);
    groups = {mpi.cart_sub(grid, {false, true}), mpi.cart_sub(grid, {true, false})};
  }

  void iteration(Mpi& mpi, const Groups& groups) const override {
    for (const Communicator group : groups) {
      mpi.alltoall(bytes_, group);
    }
  }

 private:
  std::array<int, 2> dims_;
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  return std::make_unique<Transpose>(grid_of<2>(parameters, size), bytes_of(parameters));
}

}  // namespace

extern const PatternEntry transpose_pattern;
const PatternEntry transpose_pattern{"transpose", make, {"bytes", "grid"}};

}  // namespace manynode::patterns
