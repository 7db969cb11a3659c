// What the processor says of itself and Linux does not pass on.
#pragma once

#include <string>

namespace manynode::calibration {

// A line of JSON: {"last_level_inclusive": true, false, or null if the processor does not say}.
std::string processor_line();

}  // namespace manynode::calibration
