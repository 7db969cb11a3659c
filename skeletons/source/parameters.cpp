// Parameters: typed access, defaults and bounds, and the command line of the mini-apps.
#include "manynode/parameters.hpp"

#include <charconv>
#include <sstream>

#include "manynode/error_report.hpp"
#include "nearest.hpp"

namespace manynode {
namespace {

const char* type_name(const ParameterValue& value) {
  constexpr const char* kNames[] = {"integer", "real", "text", "boolean"};
  return kNames[value.index()];
}

std::string number_text(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string bounds_text(const ParameterDeclaration& declaration) {
  std::string text = type_name(declaration.default_value);
  if (declaration.minimum > -std::numeric_limits<double>::infinity()) {
    text += ", at least " + number_text(declaration.minimum);
  }
  if (declaration.maximum < std::numeric_limits<double>::infinity()) {
    text += ", at most " + number_text(declaration.maximum);
  }
  if (declaration.multiple_of > 1) {
    text += ", a multiple of " + std::to_string(declaration.multiple_of);
  }
  return text;
}

double as_number(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  const auto* real = std::get_if<double>(&value);
  return real ? *real : 0;
}

bool allows(const ParameterDeclaration& declaration, const ParameterValue& value) {
  const double number = as_number(value);
  // Negated, so that NaN is refused.
  if (!(number >= declaration.minimum) || !(number <= declaration.maximum)) {
    return false;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  return !integer || *integer % declaration.multiple_of == 0;
}

// The value in the type of the declaration's default, where that loses nothing; else the value as it is.
ParameterValue converted(const ParameterValue& value, const ParameterValue& like) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (std::holds_alternative<double>(like)) {
      return static_cast<double>(*integer);
    }
    if (std::holds_alternative<bool>(like) && (*integer == 0 || *integer == 1)) {
      return *integer == 1;
    }
  }
  return value;
}

const ParameterDeclaration& find_declaration(const std::string& application, const std::string& name,
                                             std::span<const ParameterDeclaration> declarations,
                                             const std::string& where) {
  std::vector<std::string> names;
  for (const ParameterDeclaration& declaration : declarations) {
    if (declaration.name == name) {
      return declaration;
    }
    names.push_back(declaration.name);
  }
  throw UserError("unknown parameter of " + application, where, name, joined(names), did_you_mean(name, names));
}

ParameterValue parsed(const std::string& text, const ParameterValue& like) {
  if (std::holds_alternative<std::string>(like)) {
    return text;
  }
  if (text == "true" || text == "false") {
    return text == "true";
  }
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto result = std::from_chars(text.data(), end, integer); result.ec == std::errc{} && result.ptr == end) {
    return integer;
  }
  double real = 0;
  if (const auto result = std::from_chars(text.data(), end, real); result.ec == std::errc{} && result.ptr == end) {
    return real;
  }
  return text;
}

}  // namespace

std::string to_text(const ParameterValue& value) {
  struct Text {
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double real) const { return number_text(real); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  };
  return std::visit(Text{}, value);
}

const ParameterValue& Parameters::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw UserError("a parameter is missing", name, "", "", "give a value for " + name);
  }
  return found->second;
}

std::int64_t Parameters::integer(const std::string& name, std::int64_t minimum) const {
  const ParameterValue& value = find(name);
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (!integer || *integer < minimum) {
    throw UserError("wrong parameter", name, to_text(value), "integer, at least " + std::to_string(minimum));
  }
  return *integer;
}

double Parameters::real(const std::string& name, double minimum) const {
  const ParameterValue& value = find(name);
  const ParameterValue real = converted(value, 0.0);
  // Negated, so that NaN is refused.
  if (!std::holds_alternative<double>(real) || !(std::get<double>(real) >= minimum)) {
    throw UserError("wrong parameter", name, to_text(value), "number, at least " + number_text(minimum));
  }
  return std::get<double>(real);
}

std::string Parameters::text(const std::string& name) const {
  const ParameterValue& value = find(name);
  if (!std::holds_alternative<std::string>(value)) {
    throw UserError("wrong parameter", name, to_text(value), "text");
  }
  return std::get<std::string>(value);
}

bool Parameters::flag(const std::string& name) const {
  const ParameterValue& value = find(name);
  const ParameterValue flag = converted(value, false);
  if (!std::holds_alternative<bool>(flag)) {
    throw UserError("wrong parameter", name, to_text(value), "true or false");
  }
  return std::get<bool>(flag);
}

Parameters complete_parameters(const std::string& application, const Parameters& given,
                               std::span<const ParameterDeclaration> declarations) {
  std::map<std::string, ParameterValue> values;
  for (const ParameterDeclaration& declaration : declarations) {
    values[declaration.name] = declaration.default_value;
  }
  for (const auto& [name, given_value] : given.values()) {
    const ParameterDeclaration& declaration = find_declaration(application, name, declarations, "parameters");
    const ParameterValue value = converted(given_value, declaration.default_value);
    if (value.index() != declaration.default_value.index() || !allows(declaration, value)) {
      throw UserError("wrong parameter of " + application, name, to_text(value), bounds_text(declaration),
                      name + ": " + declaration.description);
    }
    values[name] = value;
  }
  return Parameters(std::move(values));
}

Parameters parameters_from_options(const std::string& application, int argc, const char* const* argv,
                                   std::span<const ParameterDeclaration> declarations,
                                   const std::set<std::string>& switches, std::set<std::string>& switched_on) {
  std::map<std::string, ParameterValue> values;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.rfind("--", 0) != 0) {
      throw UserError("unexpected word on the command line of " + application, "option " + std::to_string(i), option,
                      "--name value");
    }
    const std::size_t equals = option.find('=');
    const std::string name = option.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (switches.contains(name)) {
      switched_on.insert(name);
      continue;
    }
    const ParameterDeclaration& declaration = find_declaration(application, name, declarations, "command line");
    if (equals == std::string::npos && i + 1 == argc) {
      throw UserError("an option lacks its value", option, "", bounds_text(declaration));
    }
    const std::string value = equals == std::string::npos ? argv[++i] : option.substr(equals + 1);
    values[name] = parsed(value, declaration.default_value);
  }
  return complete_parameters(application, Parameters(std::move(values)), declarations);
}

}  // namespace manynode
