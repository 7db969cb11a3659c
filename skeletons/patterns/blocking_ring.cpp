// Every rank sends to the next one and then receives from the previous one, which MPI calls an unsafe program. It
// finishes if messages are eager. Longer messages wait for receives that no rank reaches, and the program deadlocks.
#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class BlockingRing final : public Pattern {
 public:
  explicit BlockingRing(std::uint64_t bytes) : bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    mpi.send((mpi.rank() + 1) % mpi.size(), bytes_);
    mpi.recv((mpi.rank() + mpi.size() - 1) % mpi.size(), bytes_);
  }

 private:
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  if (size < 2) {
    throw UserError("a ring needs two ranks", "ranks", std::to_string(size), "at least 2", "take more ranks");
  }
  return std::make_unique<BlockingRing>(bytes_of(parameters));
}

}  // namespace

extern const PatternEntry blocking_ring_pattern;
const PatternEntry blocking_ring_pattern{"blocking-ring", make, {"bytes"}};

}  // namespace manynode::patterns
