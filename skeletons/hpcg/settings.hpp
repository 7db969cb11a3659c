// Builds the settings from the parameters that application.yaml declares; also message tags. The mini-app and the
// skeleton share this file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/hpcg.hpp"
#include "geometry.hpp"
#include "manynode/error_report.hpp"

namespace manynode::hpcg {

inline constexpr int kHaloTag = 99;

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
