// Exchange with the 6 neighbours in a 3-D grid, or with all 26 around.
#include <cmath>

#include "halo.hpp"

namespace manynode::patterns {
namespace {

// A cube with n x n doubles on a face has n on an edge and one in a corner.
std::vector<Direction<3>> all_directions(std::uint64_t face_bytes) {
  const auto n = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(face_bytes) / sizeof(double))));
  std::vector<Direction<3>> directions;
  for (int x = -1; x <= 1; ++x) {
    for (int y = -1; y <= 1; ++y) {
      for (int z = -1; z <= 1; ++z) {
        const int axes = std::abs(x) + std::abs(y) + std::abs(z);
        if (axes > 0) {
          directions.push_back({{x, y, z}, axes == 1 ? face_bytes : axes == 2 ? n * sizeof(double) : sizeof(double)});
        }
      }
    }
  }
  return directions;
}

std::unique_ptr<Pattern> make(const Parameters& parameters, int size) {
  const std::int64_t neighbours = parameters.integer("neighbours", 0);
  if (neighbours != 6 && neighbours != 26) {
    throw UserError("a halo in three dimensions has other neighbours", "neighbours", std::to_string(neighbours),
                    "6, 26");
  }
  const std::uint64_t bytes = bytes_of(parameters);
  return std::make_unique<Halo<3>>(parameters, grid_of<3>(parameters, size),
                                   neighbours == 6 ? face_directions<3>(bytes) : all_directions(bytes));
}

}  // namespace

extern const PatternEntry halo3d_pattern;
const PatternEntry halo3d_pattern{"halo3d", make, {"bytes", "neighbours", "periodic", "allreduce_bytes", "grid"}};

}  // namespace manynode::patterns
