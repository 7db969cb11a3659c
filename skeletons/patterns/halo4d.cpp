// Exchange with the 8 neighbours in a 4-D grid, as in lattice QCD.
#include "halo.hpp"

namespace manynode::patterns {
namespace {

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  return std::make_unique<Halo<4>>(parameters, grid_of<4>(parameters, size), face_directions<4>(bytes_of(parameters)));
}

}  // namespace

extern const PatternEntry halo4d_pattern;
const PatternEntry halo4d_pattern{"halo4d", make, {"bytes", "periodic", "allreduce_bytes", "grid"}};

}  // namespace manynode::patterns
