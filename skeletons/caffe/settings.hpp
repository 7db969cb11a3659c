// Builds the settings from the parameters that application.yaml declares. The mini-app and the skeleton share this
// file.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "declared/caffe.hpp"
#include "manynode/error_report.hpp"
#include "network.hpp"

namespace manynode::caffe {

// From complete parameters; throws UserError if a layer is too large to send. application.yaml requires a side that can
// be pooled twice.
inline Settings settings(const Parameters& parameters) {
  const auto number = [&](const char* name) { return static_cast<int>(parameters.integer(name, 1)); };
  const Settings out{number("images"), number("side"), number("filters"), number("hidden"), number("iterations")};
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
