// Neighbour lists, built with bins as wide as the reach of the forces, and the forces of the listed pairs.
#include "app_force.hpp"

#include <algorithm>

namespace manynode::lammps {
namespace {

constexpr double power6(double x) { return x * x * x * x * x * x; }

// 4 (r^-12 - r^-6) at the cutoff.
constexpr double kShift = 4 * (1 / power6(kCutoff) / power6(kCutoff) - 1 / power6(kCutoff));

double distance_squared(const Vector& a, const Vector& b) {
  const double x = a[0] - b[0];
  const double y = a[1] - b[1];
  const double z = a[2] - b[2];
  return x * x + y * y + z * z;
}

}  // namespace

void Forces::build(Atoms& atoms) {
  const std::vector<Vector>& positions = atoms.positions();
  std::array<std::int64_t, 3> bins{};
  Vector start{};
  Vector width{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    start[axis] = atoms.low()[axis] - kReach;
    const double length = atoms.high()[axis] - atoms.low()[axis] + 2 * kReach;
    bins[axis] = std::max<std::int64_t>(1, static_cast<std::int64_t>(length / kReach));
    width[axis] = length / static_cast<double>(bins[axis]);
  }
  const auto bin_along = [&](const Vector& position, std::size_t axis) {
    const auto bin = static_cast<std::int64_t>((position[axis] - start[axis]) / width[axis]);
    return std::clamp<std::int64_t>(bin, 0, bins[axis] - 1);
  };
  first_in_bin_.assign(static_cast<std::size_t>(bins[0] * bins[1] * bins[2]), -1);
  next_in_bin_.assign(atoms.all(), -1);
  // Begins with the last atom, so that the atoms of a bin are in rising order.
  for (std::size_t i = atoms.all(); i-- > 0;) {
    const Vector& at = positions[i];
    const auto bin =
        static_cast<std::size_t>(bin_along(at, 0) + bins[0] * (bin_along(at, 1) + bins[1] * bin_along(at, 2)));
    next_in_bin_[i] = first_in_bin_[bin];
    first_in_bin_[bin] = static_cast<std::int32_t>(i);
  }

  neighbours_.clear();
  end_.clear();
  for (std::size_t i = 0; i < atoms.count(); ++i) {
    const Vector& at = positions[i];
    std::array<std::int64_t, 3> low{};
    std::array<std::int64_t, 3> high{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t here = bin_along(at, axis);
      low[axis] = std::max<std::int64_t>(here - 1, 0);
      high[axis] = std::min(here + 1, bins[axis] - 1);
    }
    for (std::int64_t z = low[2]; z <= high[2]; ++z) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t x = low[0]; x <= high[0]; ++x) {
          const auto bin = static_cast<std::size_t>(x + bins[0] * (y + bins[1] * z));
          for (std::int32_t j = first_in_bin_[bin]; j >= 0; j = next_in_bin_[static_cast<std::size_t>(j)]) {
            if (static_cast<std::size_t>(j) > i &&
                distance_squared(at, positions[static_cast<std::size_t>(j)]) < kReach * kReach) {
              neighbours_.push_back(j);
            }
          }
        }
      }
    }
    end_.push_back(neighbours_.size());
  }
}

PairSums Forces::compute(Atoms& atoms) {
  const std::vector<Vector>& positions = atoms.positions();
  const std::size_t own = atoms.count();
  forces_.assign(own, Vector{});
  PairSums sums;
  std::size_t next = 0;
  for (std::size_t i = 0; i < own; ++i) {
    const Vector at = positions[i];
    Vector force = forces_[i];
    for (; next < end_[i]; ++next) {
      const auto j = static_cast<std::size_t>(neighbours_[next]);
      const Vector apart = {at[0] - positions[j][0], at[1] - positions[j][1], at[2] - positions[j][2]};
      const double squared = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
      if (squared >= kCutoff * kCutoff) {
        continue;
      }
      const double inverse2 = 1 / squared;
      const double inverse6 = inverse2 * inverse2 * inverse2;
      const double over_distance = 48 * inverse6 * (inverse6 - 0.5) * inverse2;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        force[axis] += over_distance * apart[axis];
      }
      double share = 0.5;
      if (j < own) {
        share = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          forces_[j][axis] -= over_distance * apart[axis];
        }
      }
      sums.energy += share * (4 * inverse6 * (inverse6 - 1) - kShift);
      sums.virial += share * over_distance * squared;
    }
    forces_[i] = force;
  }
  return sums;
}

}  // namespace manynode::lammps
