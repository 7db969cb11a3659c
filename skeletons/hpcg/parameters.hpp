// Parameters, phase names and message tag: shared by the mini-app and the skeleton. application.yaml declares the same;
// a test compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "geometry.hpp"
#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"

namespace manynode::hpcg {

// The compute phases between MPI calls; README.md describes them.
enum class Work : std::uint8_t {
  Setup,
  Initial,
  Zero,
  Pack,
  Symgs,
  Residual,
  Dot,
  Direction,
  Spmv,
  Update,
  Checksum,
};

inline constexpr std::array<const char*, 11> kWorkNames = {
    "setup", "initial", "zero", "pack", "symgs", "residual", "dot", "direction", "spmv", "update", "checksum"};

constexpr const char* work_name(Work work) { return kWorkNames[static_cast<std::size_t>(work)]; }

inline constexpr int kHaloTag = 99;

inline const std::vector<ParameterDeclaration>& parameter_declarations() {
  constexpr double kMostRows = 1 << 14;
  static const std::vector<ParameterDeclaration> declarations = {
      {"nx", std::int64_t{16}, "points of a rank's grid in x; a multiple of 2^(levels-1)", 1, kMostRows},
      {"ny", std::int64_t{16}, "points of a rank's grid in y; a multiple of 2^(levels-1)", 1, kMostRows},
      {"nz", std::int64_t{16}, "points of a rank's grid in z; a multiple of 2^(levels-1)", 1, kMostRows},
      {"iterations", std::int64_t{50}, "iterations of conjugate gradients", 1, 1e9},
      {"levels", std::int64_t{4}, "grids of the multigrid preconditioner; each halves every dimension", 1, 12},
      {"preconditioner", std::int64_t{1}, "1: multigrid; 0: none", 0, 1},
  };
  return declarations;
}

struct Settings {
  Triple local{};
  int iterations{0};
  int levels{0};
  bool preconditioner{false};
};

// From complete parameters; throws UserError if the grid cannot be halved as often as `levels` asks.
inline Settings settings(const Parameters& parameters) {
  Settings out;
  out.iterations = static_cast<int>(parameters.integer("iterations", 1));
  out.levels = static_cast<int>(parameters.integer("levels", 1));
  out.preconditioner = parameters.integer("preconditioner", 0) != 0;
  const int divisor = out.preconditioner ? 1 << (out.levels - 1) : 1;
  constexpr std::array<const char*, 3> kNames = {"nx", "ny", "nz"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto points = static_cast<int>(parameters.integer(kNames[axis], 1));
    if (points % divisor != 0) {
      throw UserError("the local grid of hpcg cannot be halved on every level", kNames[axis], std::to_string(points),
                      "a multiple of " + std::to_string(divisor) + ", which is 2^(levels-1)",
                      "choose another " + std::string(kNames[axis]) + " or fewer levels");
    }
    out.local[axis] = points;
  }
  // Rows, and columns with the halo, are numbered in 32 bits.
  constexpr std::int64_t kMostLocalRows = std::int64_t{1} << 30;
  const std::int64_t rows = std::int64_t{1} * out.local[0] * out.local[1] * out.local[2];
  if (rows > kMostLocalRows) {
    throw UserError("the local grid of hpcg is too large", "nx, ny, nz", std::to_string(rows) + " points",
                    "at most " + std::to_string(kMostLocalRows), "spread the problem over more ranks");
  }
  return out;
}

}  // namespace manynode::hpcg
