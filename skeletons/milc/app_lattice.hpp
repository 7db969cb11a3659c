// The lattice of one rank: its sites, their neighbours, the links of the gauge field and the source.
#pragma once

#include <cstdint>
#include <vector>

#include "app_su3.hpp"
#include "geometry.hpp"
#include "settings.hpp"

namespace manynode::milc {

using Field = std::vector<Su3Vector>;

enum class Parity : std::uint8_t { Even, Odd };

inline Parity other(Parity parity) { return parity == Parity::Even ? Parity::Odd : Parity::Even; }

// Even sites are numbered first; within a parity, x runs fastest. Sites fetched from another rank have numbers above
// the own sites, from halo_start() on.
class Lattice {
 public:
  Lattice(const Settings& settings, const Quad& grid, int rank);

  std::size_t sites() const { return position_.size(); }
  std::size_t first(Parity parity) const { return parity == Parity::Even ? 0 : sites() / 2; }
  std::size_t end(Parity parity) const { return first(parity) + sites() / 2; }

  // Directions of links: the axes, then with third neighbours the axes again with links of length three.
  std::size_t directions() const { return forward_.size(); }
  const Gather& forward(std::size_t direction) const { return forward_[direction]; }
  const Gather& backward(std::size_t direction) const { return backward_[direction]; }

  // For each site, the number of the site that a gather fetches for it.
  const std::vector<std::int32_t>& fetched(const Gather& gather) const { return table(gather).fetched; }
  // The sites of `parity` whose vectors the neighbour on the other side fetches, in the order of its halo; empty where
  // the rank is its own neighbour.
  const std::vector<std::int32_t>& sent(const Gather& gather, Parity parity) const {
    return table(gather).sent[static_cast<std::size_t>(parity)];
  }
  // The first number of the gather's halo, and the number of its sites of one parity (equal for both).
  std::size_t halo_start(const Gather& gather) const { return table(gather).halo_start; }
  std::size_t halo_sites(const Gather& gather) const { return table(gather).sent[0].size(); }
  // Sites and the halos of all forward gathers.
  std::size_t sites_and_halos() const { return sites_and_halos_; }
  // The ranks from which a gather fetches and to which it sends; MPI_PROC_NULL where this rank is its own neighbour.
  int source_rank(const Gather& gather) const { return table(gather).source; }
  int destination_rank(const Gather& gather) const { return table(gather).destination; }

  // The link from a site forward in a direction, including staggered phase and coefficient.
  const Su3Matrix& link(std::size_t site, std::size_t direction) const {
    return links_[site * directions() + direction];
  }
  // Deviation of the links from unitarity: the largest element of U U^+ - 1.
  double greatest_defect() const { return greatest_defect_; }

  // A random vector; it depends on the site's place in the global lattice, not on the decomposition.
  Su3Vector random_vector(std::size_t site) const;
  // A weight from 1 to 7.
  double checksum_weight(std::size_t site) const;

 private:
  struct Table {
    std::vector<std::int32_t> fetched;
    std::array<std::vector<std::int32_t>, 2> sent;  // [parity]
    std::size_t halo_start{0};
    int source{0};
    int destination{0};
  };

  const Table& table(const Gather& gather) const { return tables_[static_cast<std::size_t>(gather.tag())]; }
  std::size_t site_at(const Quad& position) const { return site_[lexicographic(position)]; }
  std::size_t lexicographic(const Quad& position) const;
  Quad global(std::size_t site) const;
  void number_sites();
  void make_table(const Gather& gather, const Quad& grid, int rank);
  Su3Matrix thin_link(Quad position, std::size_t axis) const;
  void make_links(bool third_neighbours);

  Quad local_;
  Quad origin_;         // of this rank on the global lattice
  Quad global_extent_;  // of the lattice
  std::vector<Quad> position_;
  std::vector<std::size_t> site_;  // by lexicographic position
  std::vector<Gather> forward_, backward_;
  std::array<Table, 4 * kAxes> tables_;  // by tag
  std::size_t sites_and_halos_{0};
  std::vector<Su3Matrix> links_;
  double greatest_defect_{0};
};

}  // namespace manynode::milc
