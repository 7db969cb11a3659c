// Builds the settings from the parameters that application.yaml declares. The mini-app and the skeleton share this
// file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "declared/fft2d.hpp"
#include "shape.hpp"

namespace manynode::fft2d {

// Places of the result that are compared with a direct transform.
inline constexpr int kSamples = 8;
// Sums over the ranks to check the result: for each sample the value found and the one expected (complex), the
// weighted and the plain sum of squares of the result, the sum of squares of the input.
inline constexpr int kCheckSums = 4 * kSamples + 3;

struct Settings {
  Shape shape;
  int iterations{0};
};

// From complete parameters; throws UserError if there are more ranks than elements per rank.
inline Settings settings(const Parameters& parameters, int ranks) {
  return {shape(parameters.integer("elements", 1), ranks), static_cast<int>(parameters.integer("iterations", 1))};
}

}  // namespace manynode::fft2d
