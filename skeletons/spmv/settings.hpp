// Builds the settings from the parameters that application.yaml declares; also message tags. The mini-app and the
// skeleton share this file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/spmv.hpp"
#include "geometry.hpp"
#include "manynode/error_report.hpp"

namespace manynode::spmv {

inline constexpr int kFaceTag = 7;

// Sums over all ranks at the end: squared differences from the product computed point by point, weighted squares of the
// multivector, weights.
inline constexpr int kCheckSums = 3;

struct Settings {
  Triple local{};
  int columns{0};
  int iterations{0};
  bool norms{false};

  std::int64_t rows() const { return std::int64_t{1} * local[0] * local[1] * local[2]; }
  // Length of a message.
  std::int64_t doubles(const Face& face) const { return shared_points(local, face.direction) * columns; }
};

// From complete parameters; throws UserError if the multivector is longer than messages and memory allow.
inline Settings settings(const Parameters& parameters) {
  Settings out;
  constexpr std::array<const char*, 3> kNames = {"nx", "ny", "nz"};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out.local[axis] = static_cast<int>(parameters.integer(kNames[axis], 1));
  }
  out.columns = static_cast<int>(parameters.integer("columns", 1));
  out.iterations = static_cast<int>(parameters.integer("iterations", 1));
  out.norms = parameters.integer("norms", 0) != 0;
  // A message's doubles, fewer than a rank's, are counted in 32 bits.
  constexpr std::int64_t kMostDoubles = std::int64_t{1} << 28;
  if (out.rows() * out.columns > kMostDoubles) {
    throw UserError("the multivector of a rank of spmv is too long", "nx, ny, nz, columns",
                    std::to_string(out.rows() * out.columns) + " doubles", "at most " + std::to_string(kMostDoubles),
                    "spread the problem over more ranks");
  }
  return out;
}

}  // namespace manynode::spmv
