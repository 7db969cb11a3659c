// Parameters from JSON; apart from parameters.cpp, which the mini-apps compile without the JSON library.
#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "manynode/parameters.hpp"

namespace manynode {

Parameters parameters_from_json(const std::string& json, const std::string& where) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(json);
  } catch (const nlohmann::json::parse_error& error) {
    throw UserError("parameters are not valid JSON", where, error.what(), R"(an object such as {"nx": 16})");
  }
  if (!document.is_object()) {
    throw UserError("parameters are not a JSON object", where, document.dump(), R"(an object such as {"nx": 16})");
  }
  std::map<std::string, ParameterValue> values;
  for (const auto& [name, value] : document.items()) {
    if (value.is_boolean()) {
      values[name] = value.get<bool>();
    } else if (value.is_number_integer()) {
      values[name] = value.get<std::int64_t>();
    } else if (value.is_number()) {
      values[name] = value.get<double>();
    } else if (value.is_string()) {
      values[name] = value.get<std::string>();
    } else {
      throw UserError("wrong parameter", where + ": " + name, value.dump(), "a number, a text, true or false");
    }
  }
  return Parameters(std::move(values));
}

}  // namespace manynode
