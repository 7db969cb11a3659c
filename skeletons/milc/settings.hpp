// Builds the settings from the parameters that application.yaml declares; also message tags. The mini-app and the
// skeleton share this file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/milc.hpp"
#include "geometry.hpp"
#include "manynode/error_report.hpp"

namespace manynode::milc {

struct Settings {
  Quad local{};
  int iterations{0};
  bool third_neighbours{false};
  double mass{0};
};

inline constexpr int kReals = 6;  // of an SU(3) vector: three complex numbers

// Sums over all ranks at the end: squares of the residual, weighted squares of the solution, weights.
inline constexpr std::size_t kSums = 3;

// A gather of the vectors of one parity from the sites `distance` further along an axis.
struct Gather {
  std::size_t axis{0};
  int step{0};      // -1 or 1: where the vectors come from
  int distance{1};  // 1 or 3

  int tag() const { return static_cast<int>(2 * axis) + (step > 0 ? 1 : 0) + (distance == 3 ? 2 * kAxes : 0); }
};

// The gathers from one side, in the order in which they are started.
inline std::vector<Gather> gathers(int step, bool third_neighbours) {
  std::vector<Gather> list;
  for (const int distance : {1, 3}) {
    for (std::size_t axis = 0; axis < kAxes && (distance == 1 || third_neighbours); ++axis) {
      list.push_back({axis, step, distance});
    }
  }
  return list;
}

// From complete parameters; throws UserError if an extent is too small for the operator. application.yaml requires even
// extents.
inline Settings settings(const Parameters& parameters) {
  Settings out;
  out.iterations = static_cast<int>(parameters.integer("iterations", 1));
  out.third_neighbours = parameters.integer("third_neighbours", 0) != 0;
  out.mass = parameters.real("mass", 0);
  constexpr int kLeast = 4;
  constexpr std::array<const char*, kAxes> kNames = {"nx", "ny", "nz", "nt"};
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const auto sites = static_cast<int>(parameters.integer(kNames[axis], 1));
    if (out.third_neighbours && sites < kLeast) {
      throw UserError("the local lattice of milc is too small for third neighbours", kNames[axis],
                      std::to_string(sites), "even, at least " + std::to_string(kLeast),
                      "choose another " + std::string(kNames[axis]));
    }
    out.local[axis] = sites;
  }
  // Sites are numbered in 32 bits, and a link has 18 reals.
  constexpr std::int64_t kMostSites = std::int64_t{1} << 26;
  if (volume(out.local) > kMostSites) {
    throw UserError("the local lattice of milc is too large", "nx, ny, nz, nt",
                    std::to_string(volume(out.local)) + " sites", "at most " + std::to_string(kMostSites),
                    "spread the problem over more ranks");
  }
  return out;
}

}  // namespace manynode::milc
