// Wavefronts over a 2-D grid of ranks, from each of its four corners in turn (Koch, Baker and Alcouffe's sweep of SN
// transport, as in SNAP): a rank receives from its two upstream neighbours and sends to its two downstream ones, chunk
// by chunk.
#include "grid.hpp"
#include "pattern.hpp"

namespace manynode::patterns {
namespace {

class Sweep2d final : public Pattern {
 public:
  Sweep2d(const std::array<int, 2>& dims, std::int64_t chunks, std::uint64_t bytes)
      : dims_(dims), chunks_(chunks), bytes_(bytes) {}

  void iteration(Mpi& mpi, const Groups&) const override {
    const std::array<int, 2> place = place_of(dims_, mpi.rank());
    for (const int y : {1, -1}) {
      for (const int x : {1, -1}) {
        const int upstream_x = rank_at(dims_, place, {0, -x}, false);
        const int upstream_y = rank_at(dims_, place, {-y, 0}, false);
        const int downstream_x = rank_at(dims_, place, {0, x}, false);
        const int downstream_y = rank_at(dims_, place, {y, 0}, false);
        for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
          mpi.recv(upstream_x, bytes_);
          mpi.recv(upstream_y, bytes_);
          mpi.send(downstream_x, bytes_);
          mpi.send(downstream_y, bytes_);
        }
      }
    }
  }

 private:
  std::array<int, 2> dims_;
  std::int64_t chunks_;
  std::uint64_t bytes_;
};

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  return std::make_unique<Sweep2d>(grid_of<2>(parameters, size), parameters.integer("chunks", 1), bytes_of(parameters));
}

}  // namespace

extern const PatternEntry sweep2d_pattern;
const PatternEntry sweep2d_pattern{"sweep2d", make, {"bytes", "chunks", "grid"}};

}  // namespace manynode::patterns
