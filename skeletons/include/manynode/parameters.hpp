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

// One parameter that an application takes. The table of declarations serves the skeleton, the mini-app's options and
// `manynode-skeleton describe`; a test holds the application's application.yaml to it.
struct ParameterDeclaration {
  std::string name;
  ParameterValue default_value;
  std::string description;
  double minimum{-std::numeric_limits<double>::infinity()};
  double maximum{std::numeric_limits<double>::infinity()};
};

class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(std::map<std::string, ParameterValue> values) : values_(std::move(values)) {}

  // Each throws UserError (a std::invalid_argument) naming the parameter when it is absent, of another type or below
  // the minimum. An integer is accepted where a real number is asked for, and 0 or 1 for a flag.
  std::int64_t integer(const std::string& name, std::int64_t minimum) const;
  double real(const std::string& name, double minimum) const;
  std::string text(const std::string& name) const;
  bool flag(const std::string& name) const;

  const std::map<std::string, ParameterValue>& values() const { return values_; }

 private:
  const ParameterValue& find(const std::string& name) const;

  std::map<std::string, ParameterValue> values_;
};

// The given values, and the defaults of those not given. A name that is not declared, a value of another type than the
// default's, or one out of bounds throws UserError; `application` is named in the message.
Parameters complete_parameters(const std::string& application, const Parameters& given,
                               std::span<const ParameterDeclaration> declarations);

// The command line of a mini-app: `--name value` or `--name=value` for each declared parameter, `--switch` for each
// name in `switches`. The switches that were given go to `switched_on`. Throws UserError as complete_parameters does.
Parameters parameters_from_options(const std::string& application, int argc, const char* const* argv,
                                   std::span<const ParameterDeclaration> declarations,
                                   const std::set<std::string>& switches, std::set<std::string>& switched_on);

// One JSON object of numbers, texts and booleans. Throws UserError when it is anything else; `where` names its source.
Parameters parameters_from_json(const std::string& json, const std::string& where);

// A value as a person writes it.
std::string to_text(const ParameterValue& value);

}  // namespace manynode
