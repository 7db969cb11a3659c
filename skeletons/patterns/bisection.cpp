// Each rank of the lower half exchanges with its partner in the upper half, both directions at once.
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class Bisection final : public Pattern {
 public:
  Bisection(int half, std::uint64_t bytes) : half_(half), bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    if (mpi.rank() >= 2 * half_) {
      return;
    }
    const int partner = mpi.rank() < half_ ? mpi.rank() + half_ : mpi.rank() - half_;
    mpi.sendrecv(partner, bytes_, 0, partner, bytes_, 0);
  }

 private:
  int half_;  // ranks; the last of an odd number of them is idle
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  if (size < 2) {
    throw UserError("a bisection needs two ranks", "ranks", std::to_string(size), "at least 2", "take more ranks");
  }
  return std::make_unique<Bisection>(size / 2, bytes_of(parameters));
}

}  // namespace

extern const PatternEntry bisection_pattern;
const PatternEntry bisection_pattern{"bisection", make, {"bytes"}};

}  // namespace manynode::patterns
