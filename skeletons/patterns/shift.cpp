// Every rank i sends to rank i + distance, and receives from rank i - distance, modulo the number of ranks.
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class Shift final : public Pattern {
 public:
  Shift(int distance, std::uint64_t bytes) : distance_(distance), bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    const int destination = (mpi.rank() + distance_) % mpi.size();
    const int source = (mpi.rank() - distance_ + mpi.size()) % mpi.size();
    mpi.sendrecv(destination, bytes_, 0, source, bytes_, 0);
  }

 private:
  int distance_;
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  const std::int64_t distance = parameters.integer("distance", 1);
  if (distance >= size) {
    throw UserError("the distance of a shift is too long", "distance", std::to_string(distance),
                    "1 to " + std::to_string(size - 1) + ", less than the number of ranks");
  }
  return std::make_unique<Shift>(static_cast<int>(distance), bytes_of(parameters));
}

}  // namespace

extern const PatternEntry shift_pattern;
const PatternEntry shift_pattern{"shift", make, {"bytes", "distance"}};

}  // namespace manynode::patterns
