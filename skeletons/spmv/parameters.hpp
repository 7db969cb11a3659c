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

namespace manynode::spmv {

// The compute phases between MPI calls; README.md describes them.
enum class Work : std::uint8_t { Setup, Pack, Multiply, Fill, Check };

inline constexpr std::array<const char*, 5> kWorkNames = {"setup", "pack", "multiply", "fill", "check"};

constexpr const char* work_name(Work work) { return kWorkNames[static_cast<std::size_t>(work)]; }

inline constexpr int kFaceTag = 7;

// Sums over all ranks at the end: squared differences from the product computed point by point, weighted squares of the
// multivector, weights.
inline constexpr int kCheckSums = 3;

inline const std::vector<ParameterDeclaration>& parameter_declarations() {
  constexpr double kMostPoints = 1024;
  static const std::vector<ParameterDeclaration> declarations = {
      {"nx", std::int64_t{5}, "points of a rank's grid in x", 1, kMostPoints},
      {"ny", std::int64_t{5}, "points of a rank's grid in y", 1, kMostPoints},
      {"nz", std::int64_t{5}, "points of a rank's grid in z", 1, kMostPoints},
      {"columns", std::int64_t{100}, "vectors to which the matrix is applied at a time", 1, 4096},
      {"iterations", std::int64_t{100}, "products of the matrix with the result of the one before", 1, 1e9},
      {"norms", std::int64_t{0}, "1: an allreduce of the columns' norms ends each product; 0: none", 0, 1},
  };
  return declarations;
}

struct Settings {
  Triple local{};
  int columns{0};
  int iterations{0};
  bool norms{false};

  std::int64_t rows() const { return std::int64_t{1} * local[0] * local[1] * local[2]; }
  // Of a message.
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
