// Parameters and phase names: shared by the mini-app and the skeleton. application.yaml declares the same; a test
// compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "manynode/parameters.hpp"
#include "shape.hpp"

namespace manynode::fft2d {

// The compute phases between MPI calls; README.md describes them.
enum class Work : std::uint8_t { Setup, Rows, Columns, Check };

inline constexpr std::array<const char*, 4> kWorkNames = {"setup", "rows", "columns", "check"};

constexpr const char* work_name(Work work) { return kWorkNames[static_cast<std::size_t>(work)]; }

// Number of places of the result to compare with a direct transform.
inline constexpr int kSamples = 8;
// Sums over the ranks to check the result: for each sample the value found and the one expected (complex), the
// weighted and the plain sum of squares of the result, the sum of squares of the input.
inline constexpr int kCheckSums = 4 * kSamples + 3;

inline const std::vector<ParameterDeclaration>& parameter_declarations() {
  // The two parts of a complex number are counted in 32 bits, and a rank may have nearly twice its share of columns.
  constexpr double kMostElements = 1 << 27;
  static const std::vector<ParameterDeclaration> declarations = {
      {"elements", std::int64_t{1} << 15, "complex numbers of a rank; at least as many as there are ranks", 1,
       kMostElements},
      {"iterations", std::int64_t{20}, "transforms of the whole matrix, each of the result of the one before", 1, 1e9},
  };
  return declarations;
}

struct Settings {
  Shape shape;
  int iterations{0};
};

// From complete parameters; throws UserError if the matrix cannot be dealt to so many ranks.
inline Settings settings(const Parameters& parameters, int ranks) {
  return {shape(parameters.integer("elements", 1), ranks), static_cast<int>(parameters.integer("iterations", 1))};
}

}  // namespace manynode::fft2d
