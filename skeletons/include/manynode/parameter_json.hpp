// A parameter's value from JSON; apart from parameters.hpp, which the mini-apps use without the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "manynode/parameters.hpp"

namespace manynode {

// A number, a text, true or false; nothing where `value` is none of these.
std::optional<ParameterValue> parameter_value(const nlohmann::json& value);

}  // namespace manynode
