// An application's parameters as JSON, in the words of application.yaml.
#include <cmath>
#include <nlohmann/json.hpp>

#include "streams.hpp"

namespace manynode::sinks {

void print_description(const std::string& application, std::ostream& out) {
  using nlohmann::ordered_json;
  constexpr const char* kTypes[] = {"int", "float", "str", "bool"};  // as in application.yaml
  ordered_json parameters = ordered_json::object();
  for (const ParameterDeclaration& declaration : application_parameters(application)) {
    ordered_json& entry = parameters[declaration.name];
    entry["type"] = kTypes[declaration.default_value.index()];
    std::visit([&](const auto& value) { entry["default"] = value; }, declaration.default_value);
    // Bounds of an integer are integers, so that they print as such.
    const auto bound = [&](const char* name, double value) {
      if (!std::isfinite(value)) {
        return;
      }
      if (std::holds_alternative<std::int64_t>(declaration.default_value)) {
        entry[name] = static_cast<std::int64_t>(value);
      } else {
        entry[name] = value;
      }
    };
    bound("minimum", declaration.minimum);
    bound("maximum", declaration.maximum);
    if (declaration.multiple_of > 1) {
      entry["multiple_of"] = declaration.multiple_of;
    }
    entry["description"] = declaration.description;
  }
  const ordered_json description = {{"name", application}, {"parameters", parameters}};
  out << description.dump(2) << '\n';
}

}  // namespace manynode::sinks
