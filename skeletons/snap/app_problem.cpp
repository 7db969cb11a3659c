// Materials, cross sections and directions.
#include "app_problem.hpp"

#include <cmath>
#include <numbers>

namespace manynode::snap {

// Points spread evenly over an eighth of the sphere: equal steps in one cosine, steps of the golden ratio around it.
// The mean of that cosine is 1/2, as over the octant itself.
Quadrature::Quadrature(int angles) : weight(1.0 / (8 * angles)) {
  for (int i = 0; i < angles; ++i) {
    const double cosine = (i + 0.5) / angles;
    const double turn = (i + 0.5) * (std::numbers::phi - 1);
    const double around = std::numbers::pi / 2 * (turn - std::floor(turn));
    const double sine = std::sqrt(1 - cosine * cosine);
    x.push_back(cosine);
    y.push_back(sine * std::cos(around));
    z.push_back(sine * std::sin(around));
  }
}

Problem::Problem(const Settings& settings, const ProcessGrid& grid, int rank) : groups_(settings.groups) {
  place_materials(settings, grid, place_of(grid, rank));
  // The first group's values and the step from group to group are those of the reference code's two materials.
  set_cross_sections(0, 1.0, 0.5, 0.2);
  set_cross_sections(kCentre, 2.0, 1.2, 0.5);
}

// The second material and the source fill the middle half of the domain in each direction.
void Problem::place_materials(const Settings& settings, const ProcessGrid& grid, const Place& place) {
  const auto central = [](int i, int count) { return i >= count / 4 && i < (3 * count + 3) / 4; };
  for (int z = 0; z < settings.nz; ++z) {
    const int global_z = place.z * settings.nz + z;
    for (int y = 0; y < settings.ny; ++y) {
      const int global_y = place.y * settings.ny + y;
      const bool line = central(global_y, grid.y * settings.ny) && central(global_z, grid.z * settings.nz);
      for (int x = 0; x < settings.nx; ++x) {
        material_.push_back(line && central(x, settings.nx) ? kCentre : 0);
        weight_.push_back(static_cast<std::uint8_t>(1 + (x + 2 * global_y + 3 * global_z) % 7));
      }
    }
  }
}

// `scattered` is the first group's cross section of scattering; of the scattered particles, `within_group` stay in
// their group, a tenth go to the groups above and the rest to those below. If there is no such group, they stay.
void Problem::set_cross_sections(std::size_t material, double total, double scattered, double within_group) {
  constexpr double kUp = 0.1;
  const auto groups = static_cast<std::size_t>(groups_);
  scatter_[material].resize(groups * groups);
  for (std::size_t from = 0; from < groups; ++from) {
    const double step = static_cast<double>(from);
    total_[material].push_back(total + 0.01 * step);
    const double sum = scattered + 0.005 * step;
    const std::size_t below = groups - 1 - from;
    double stays = 1;
    for (std::size_t to = 0; to < groups; ++to) {
      if (to == from) {
        continue;
      }
      const double share =
          to < from ? kUp / static_cast<double>(from) : (1 - within_group - kUp) / static_cast<double>(below);
      scatter_[material][from * groups + to] = share * sum;
      stays -= share;
    }
    scatter_[material][from * groups + from] = stays * sum;
  }
}

}  // namespace manynode::snap
