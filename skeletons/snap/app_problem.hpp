// The transport problem: the mesh of one rank, materials, cross sections, directions and the source.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry.hpp"
#include "settings.hpp"

namespace manynode::snap {

using Vector = std::vector<double>;

inline constexpr double kCellWidth = 0.1;
inline constexpr double kFaceArea = kCellWidth * kCellWidth;
inline constexpr double kCellVolume = kCellWidth * kFaceArea;

// Directions of one octant, as the magnitudes of their cosines; all have the same weight.
struct Quadrature {
  explicit Quadrature(int angles);

  Vector x, y, z;
  double weight{0};
};

class Problem {
 public:
  Problem(const Settings& settings, const ProcessGrid& grid, int rank);

  // Cells are numbered with x running fastest.
  std::size_t cells() const { return material_.size(); }
  double total(int group, std::size_t cell) const { return total_[material_[cell]][static_cast<std::size_t>(group)]; }
  // From one group to another.
  double scatter(int from, int to, std::size_t cell) const {
    return scatter_[material_[cell]][static_cast<std::size_t>(from * groups_ + to)];
  }
  // The same in all groups.
  double source(std::size_t cell) const { return material_[cell] == kCentre ? 1 : 0; }
  // A weight from 1 to 7; it depends on the cell's place in the global mesh, not on the decomposition.
  double checksum_weight(std::size_t cell) const { return weight_[cell]; }

 private:
  static constexpr std::uint8_t kCentre = 1;

  void place_materials(const Settings& settings, const ProcessGrid& grid, const Place& place);
  void set_cross_sections(std::size_t material, double total, double scattered, double within_group);

  int groups_;
  std::vector<std::uint8_t> material_;  // of each cell
  std::vector<std::uint8_t> weight_;
  std::array<Vector, 2> total_;    // [material][group]
  std::array<Vector, 2> scatter_;  // [material][from * groups + to]
};

}  // namespace manynode::snap
