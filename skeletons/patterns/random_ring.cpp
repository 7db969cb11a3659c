// A ring in random order: every rank exchanges with both of its neighbours there (HPC Challenge's randomly ordered
// ring).
#include <numeric>
#include <random>

#include "manynode/error_report.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class RandomRing final : public Pattern {
 public:
  RandomRing(int size, std::uint64_t seed, std::uint64_t bytes)
      : order_(static_cast<std::size_t>(size)), place_(order_.size()), bytes_(bytes) {
    std::iota(order_.begin(), order_.end(), 0);
    // Own Fisher-Yates shuffle, because std::shuffle differs between libraries and results must not.
    std::mt19937_64 random(seed);
    for (std::size_t i = order_.size() - 1; i > 0; --i) {
      std::swap(order_[i], order_[random() % (i + 1)]);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      place_[static_cast<std::size_t>(order_[i])] = i;
    }
  }

  void iteration(Mpi& mpi, const Groups&) const override {
    const std::size_t place = place_[static_cast<std::size_t>(mpi.rank())];
    const int next = order_[(place + 1) % order_.size()];
    const int previous = order_[(place + order_.size() - 1) % order_.size()];
    const std::array requests = {mpi.irecv(previous, bytes_, 0), mpi.irecv(next, bytes_, 1), mpi.isend(next, bytes_, 0),
                                 mpi.isend(previous, bytes_, 1)};
    mpi.waitall(requests);
  }

 private:
  std::vector<int> order_;          // [place on the ring] rank
  std::vector<std::size_t> place_;  // [rank]
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  if (size < 2) {
    throw UserError("a ring needs two ranks", "ranks", std::to_string(size), "at least 2", "take more ranks");
  }
  return std::make_unique<RandomRing>(size, static_cast<std::uint64_t>(parameters.integer("seed", 0)),
                                      bytes_of(parameters));
}

}  // namespace

extern const PatternEntry random_ring_pattern;
const PatternEntry random_ring_pattern{"random-ring", make, {"bytes", "seed"}};

}  // namespace manynode::patterns
