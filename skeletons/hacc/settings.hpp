// Builds the settings from the parameters that application.yaml declares; also message tags. The mini-app and the
// skeleton share this file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/hacc.hpp"
#include "shape.hpp"

namespace manynode::hacc {

// A message's tag identifies the pencils that it connects.
inline constexpr int kRowTag = 1;
inline constexpr int kColumnTag = 2;

// Sums over the ranks to check the result: squared differences from the shifted input, squares of the result, the same
// weighted, squares of the input.
inline constexpr int kCheckSums = 4;

struct Settings {
  Shape shape;
  int iterations{0};
};

// From complete parameters; throws UserError if the cube has too few planes for the ranks.
inline Settings settings(const Parameters& parameters, int ranks) {
  return {shape(parameters.integer("elements", 1), ranks), static_cast<int>(parameters.integer("iterations", 1))};
}

}  // namespace manynode::hacc
