// The parameters of an application, as resolved and checked by the experiment: names and numbers or texts.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace manynode {

using ParameterValue = std::variant<std::int64_t, double, std::string, bool>;

// One parameter of an application. The build generates the table of them from application.yaml (declared/<name>.hpp).
// The skeleton, the mini-app's options and `manynode-skeleton describe` use it.
struct ParameterDeclaration {
  std::string name;
  ParameterValue default_value;
  std::string description;
  double minimum{-std::numeric_limits<double>::infinity()};
  double maximum{std::numeric_limits<double>::infinity()};
  std::int64_t multiple_of{1};  // of integers only
};

class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::map<std::string, ParameterValue> values) : values_(std::move(values)) {}

  // Each throws UserError (a std::invalid_argument) naming the parameter if it is missing, of another type or below the
  // minimum. An integer is accepted as a real number, and 0 or 1 as a flag.
  std::int64_t integer(const std::string& name, std::int64_t minimum) const;
  double real(const std::string& name, double minimum) const;
  std::string text(const std::string& name) const;
  bool flag(const std::string& name) const;

  const std::map<std::string, ParameterValue>& values() const { return values_; }

 private:
  const ParameterValue& find(const std::string& name) const;

  std::map<std::string, ParameterValue> values_;
};

// The given values, with defaults for the rest. An unknown name, a value of another type than the default, or a value
// that the declaration does not allow throws UserError, which names `application`.
Parameters complete_parameters(const std::string& application, const Parameters& given,
                               std::span<const ParameterDeclaration> declarations);

// The command line of a mini-app: `--name value` or `--name=value` for each declared parameter, `--switch` for each
// name in `switches`. The given switches go to `switched_on`. Throws UserError as complete_parameters does.
Parameters parameters_from_options(const std::string& application, int argc, const char* const* argv,
                                   std::span<const ParameterDeclaration> declarations,
                                   const std::set<std::string>& switches, std::set<std::string>& switched_on);

// One JSON object of numbers, texts and booleans. Throws UserError for anything else; `where` names its source.
Parameters parameters_from_json(const std::string& json, const std::string& where);

// A value as text for people.
std::string to_text(const ParameterValue& value);

}  // namespace manynode
