// Parameters from JSON; apart from parameters.cpp, which the mini-apps compile without the JSON library.
#include <nlohmann/json.hpp>
#include <sstream>

#include "manynode/error_report.hpp"
#include "manynode/json_text.hpp"
#include "manynode/parameter_json.hpp"

namespace manynode {

std::optional<ParameterValue> parameter_value(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

Parameters parameters_from_json(const std::string& json, const std::string& where) {
  nlohmann::json document;
  try {
    std::istringstream text(json);
    document = parsed_json(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError("parameters are not valid JSON", where, error.what(), R"(an object such as {"nx": 16})");
  }
  if (!document.is_object()) {
    throw UserError("parameters are not a JSON object", where, json_text(document), R"(an object such as {"nx": 16})");
  }
  std::map<std::string, ParameterValue> values;
  for (const auto& [name, value] : document.items()) {
    const std::optional<ParameterValue> known = parameter_value(value);
    if (!known) {
      throw UserError("wrong parameter", where + ": " + name, json_text(value), "a number, a text, true or false");
    }
    values[name] = *known;
  }
  return Parameters(std::move(values));
}

}  // namespace manynode
