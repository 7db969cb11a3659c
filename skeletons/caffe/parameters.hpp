// Parameters and phase names: shared by the mini-app and the skeleton. application.yaml declares the same; a test
// compares them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"
#include "network.hpp"

namespace manynode::caffe {

// The compute phases between MPI calls; README.md describes them.
enum class Work : std::uint8_t { Setup, Forward, Backward, Decode, Encode, Apply, Check };

inline constexpr std::array<const char*, 7> kWorkNames = {"setup",  "forward", "backward", "decode",
                                                          "encode", "apply",   "check"};

constexpr const char* work_name(Work work) { return kWorkNames[static_cast<std::size_t>(work)]; }

inline const std::vector<ParameterDeclaration>& parameter_declarations() {
  static const std::vector<ParameterDeclaration> declarations = {
      {"images", std::int64_t{128}, "images of a rank in each iteration", 1, 1 << 20},
      {"side", std::int64_t{16}, "side of an image in pixels; a multiple of 4", 4, 1 << 10},
      {"filters", std::int64_t{8}, "filters of the first convolution; the second has twice as many", 1, 1 << 10},
      {"hidden", std::int64_t{64}, "units of the first fully connected layer", 1, 1 << 14},
      {"iterations", std::int64_t{10}, "batches, and changes of the weights", 1, 1e9},
  };
  return declarations;
}

// From complete parameters; throws UserError if the images cannot be pooled twice or a layer is too large to send.
inline Settings settings(const Parameters& parameters) {
  const auto number = [&](const char* name) { return static_cast<int>(parameters.integer(name, 1)); };
  const Settings out{number("images"), number("side"), number("filters"), number("hidden"), number("iterations")};
  if (out.side % (kPool * kPool) != 0) {
    throw UserError("the images of caffe cannot be pooled twice", "side", std::to_string(out.side),
                    "a multiple of " + std::to_string(kPool * kPool), "choose another side");
  }
  for (const std::int64_t count : layer_parameters(out)) {
    if (encoded_bytes(count) > std::numeric_limits<int>::max()) {
      throw UserError("a layer of caffe is too large for one message", "side, filters, hidden",
                      std::to_string(count) + " parameters", "what is encoded in less than 2 GiB",
                      "choose a smaller network");
    }
  }
  return out;
}

}  // namespace manynode::caffe
