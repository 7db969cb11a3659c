// A parameter's value from JSON; separate from parameters.hpp, which the mini-apps use without the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "manynode/parameters.hpp"

namespace manynode {

// A number, a text, true or false; empty for any other `value`.
std::optional<ParameterValue> parameter_value(const nlohmann::json& value);

}  // namespace manynode
