// Sites and neighbours, and a random gauge field that does not depend on the number of ranks.
#include "app_lattice.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>

#include "manynode/splitmix.hpp"

namespace manynode::milc {
namespace {

// A random number in (-1, 1) for each key.
double random_number(std::uint64_t key) {
  return (static_cast<double>(random_bits(key) >> 11) + 0.5) / static_cast<double>(std::uint64_t{1} << 52) - 1;
}

// The first key of the random numbers for the link of a site along an axis. The fifth axis is the source vector.
std::uint64_t random_key(const Quad& position, const Quad& extent, std::size_t axis) {
  std::uint64_t site = 0;
  for (std::size_t i = kAxes; i-- > 0;) {
    site = site * static_cast<std::uint64_t>(extent[i]) + static_cast<std::uint64_t>(position[i]);
  }
  return (site * (kAxes + 1) + axis) * 32;
}

void normalize(Su3Vector& vector) {
  const double scale = 1 / std::sqrt(inner_product(vector, vector).re);
  for (Complex& element : vector) {
    element = scale * element;
  }
}

// A matrix of SU(3): two orthonormal rows, and the third as the conjugate of their cross product.
Su3Matrix random_su3(std::uint64_t key) {
  Su3Matrix m;
  for (std::size_t row = 0; row < 2; ++row) {
    for (Complex& element : m[row]) {
      element = {random_number(key), random_number(key + 1)};
      key += 2;
    }
  }
  normalize(m[0]);
  const Complex overlap = inner_product(m[0], m[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    m[1][i] -= overlap * m[0][i];
  }
  normalize(m[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    const std::size_t k = (i + 2) % 3;
    Complex cross = m[0][j] * m[1][k];
    cross -= m[0][k] * m[1][j];
    m[2][i] = conjugate(cross);
  }
  return m;
}

double defect(const Su3Matrix& m) {
  double greatest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const Complex product = inner_product(m[i], m[j]);
      greatest = std::max({greatest, std::abs(product.re - (i == j ? 1 : 0)), std::abs(product.im)});
    }
  }
  return greatest;
}

}  // namespace

Lattice::Lattice(const Settings& settings, const Quad& grid, int rank)
    : local_(settings.local),
      origin_(place_of(grid, rank)),
      global_extent_(grid),
      forward_(gathers(1, settings.third_neighbours)),
      backward_(gathers(-1, settings.third_neighbours)) {
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    origin_[axis] *= local_[axis];
    global_extent_[axis] *= local_[axis];
  }
  number_sites();
  sites_and_halos_ = sites();
  for (const Gather& gather : forward_) {
    make_table(gather, grid, rank);
    sites_and_halos_ += halo_sites(gather);
  }
  for (const Gather& gather : backward_) {
    make_table(gather, grid, rank);
  }
  make_links(settings.third_neighbours);
}

std::size_t Lattice::lexicographic(const Quad& position) const {
  std::size_t index = 0;
  for (std::size_t axis = kAxes; axis-- > 0;) {
    index = index * static_cast<std::size_t>(local_[axis]) + static_cast<std::size_t>(position[axis]);
  }
  return index;
}

// All extents are even, so a site's parity on the rank is its parity on the global lattice.
void Lattice::number_sites() {
  site_.resize(static_cast<std::size_t>(volume(local_)));
  for (const int parity : {0, 1}) {
    Quad at{};
    for (at[3] = 0; at[3] < local_[3]; ++at[3]) {
      for (at[2] = 0; at[2] < local_[2]; ++at[2]) {
        for (at[1] = 0; at[1] < local_[1]; ++at[1]) {
          for (at[0] = (at[1] + at[2] + at[3] + parity) % 2; at[0] < local_[0]; at[0] += 2) {
            site_[lexicographic(at)] = position_.size();
            position_.push_back(at);
          }
        }
      }
    }
  }
}

// Both sides walk the slices between them in the same order of sites, so that vectors arrive in the order of the halo.
void Lattice::make_table(const Gather& gather, const Quad& grid, int rank) {
  Table& table = tables_[static_cast<std::size_t>(gather.tag())];
  const int extent = local_[gather.axis];
  const bool alone = grid[gather.axis] == 1;
  table.source = alone ? MPI_PROC_NULL : neighbour(grid, rank, gather.axis, gather.step);
  table.destination = alone ? MPI_PROC_NULL : neighbour(grid, rank, gather.axis, -gather.step);
  // A field that is gathered backward has one halo; one that is gathered forward has all.
  table.halo_start = gather.step > 0 ? sites_and_halos_ : sites();
  std::array<std::size_t, 2> next = {table.halo_start, table.halo_start};
  for (std::size_t site = 0; site < sites(); ++site) {
    const std::size_t parity = site < sites() / 2 ? 0 : 1;
    Quad there = position_[site];
    const int here = there[gather.axis];
    there[gather.axis] += gather.step * gather.distance;
    const bool outside = there[gather.axis] < 0 || there[gather.axis] >= extent;
    there[gather.axis] = (there[gather.axis] + extent) % extent;
    table.fetched.push_back(static_cast<std::int32_t>(outside && !alone ? next[parity]++ : site_at(there)));
    const bool at_the_face = gather.step > 0 ? here < gather.distance : here >= extent - gather.distance;
    if (at_the_face && !alone) {
      table.sent[parity].push_back(static_cast<std::int32_t>(site));
    }
  }
}

Quad Lattice::global(std::size_t site) const {
  Quad position = position_[site];
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    position[axis] += origin_[axis];
  }
  return position;
}

// The link from a site of the global lattice, with the staggered phase (-1)^(sum of the coordinates on lower axes) and,
// across the border in t, the sign of antiperiodic fermions.
Su3Matrix Lattice::thin_link(Quad position, std::size_t axis) const {
  position[axis] %= global_extent_[axis];
  Su3Matrix link = random_su3(random_key(position, global_extent_, axis));
  int signs = axis == kAxes - 1 && position[axis] == global_extent_[axis] - 1 ? 1 : 0;
  for (std::size_t lower = 0; lower < axis; ++lower) {
    signs += position[lower];
  }
  if (signs % 2 != 0) {
    for (Su3Vector& row : link) {
      for (Complex& element : row) {
        element = -1.0 * element;
      }
    }
  }
  return link;
}

// With third neighbours the coefficients are those of the Naik term: 9/8 and -1/24.
void Lattice::make_links(bool third_neighbours) {
  const auto scaled = [](double factor, Su3Matrix link) {
    for (Su3Vector& row : link) {
      for (Complex& element : row) {
        element = factor * element;
      }
    }
    return link;
  };
  for (std::size_t site = 0; site < sites(); ++site) {
    for (std::size_t direction = 0; direction < directions(); ++direction) {
      const std::size_t axis = forward_[direction].axis;
      Quad position = global(site);
      Su3Matrix link = thin_link(position, axis);
      for (int i = 1; i < forward_[direction].distance; ++i) {
        ++position[axis];
        link = link * thin_link(position, axis);
      }
      greatest_defect_ = std::max(greatest_defect_, defect(link));
      const double naik = forward_[direction].distance == 3 ? -1.0 / 24 : 9.0 / 8;
      links_.push_back(scaled(third_neighbours ? naik : 1, link));
    }
  }
}

Su3Vector Lattice::random_vector(std::size_t site) const {
  const std::uint64_t key = random_key(global(site), global_extent_, kAxes);
  Su3Vector vector;
  for (std::size_t i = 0; i < 3; ++i) {
    vector[i] = {random_number(key + 2 * i), random_number(key + 2 * i + 1)};
  }
  return vector;
}

double Lattice::checksum_weight(std::size_t site) const {
  const Quad at = global(site);
  return 1 + (at[0] + 2 * at[1] + 3 * at[2] + 4 * at[3]) % 7;
}

}  // namespace manynode::milc
