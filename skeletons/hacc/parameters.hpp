// Parameters, phase names and message tags: shared by the mini-app and the skeleton. application.yaml declares the
// same; a test compares them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "manynode/parameters.hpp"
#include "shape.hpp"

namespace manynode::hacc {

// The compute phases between MPI calls; README.md describes them.
enum class Work : std::uint8_t { Setup, AlongZ, AlongY, AlongX, BackAlongY, Check };

inline constexpr std::array<const char*, 6> kWorkNames = {"setup",   "along-z",      "along-y",
                                                          "along-x", "back-along-y", "check"};

constexpr const char* work_name(Work work) { return kWorkNames[static_cast<std::size_t>(work)]; }

// A message's tag identifies the pencils that it connects.
inline constexpr int kRowTag = 1;
inline constexpr int kColumnTag = 2;

// Sums over the ranks to check the result: squared differences from the shifted input, squares of the result, the same
// weighted, squares of the input.
inline constexpr int kCheckSums = 4;

inline const std::vector<ParameterDeclaration>& parameter_declarations() {
  // The two parts of a complex number are counted in 32 bits, and a rank may have more than its share of planes.
  constexpr double kMostElements = 1 << 27;
  static const std::vector<ParameterDeclaration> declarations = {
      {"elements", std::int64_t{1} << 15, "cells of a rank at most; the cube is the largest with a fast transform", 1,
       kMostElements},
      {"iterations", std::int64_t{10}, "solutions: transform, kernel, transform back", 1, 1e9},
  };
  return declarations;
}

struct Settings {
  Shape shape;
  int iterations{0};
};

// From complete parameters; throws UserError if the cube cannot be dealt to so many ranks.
inline Settings settings(const Parameters& parameters, int ranks) {
  return {shape(parameters.integer("elements", 1), ranks), static_cast<int>(parameters.integer("iterations", 1))};
}

}  // namespace manynode::hacc
