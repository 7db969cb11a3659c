#include "tasks.hpp"

#include <charconv>

#include "manynode/error_report.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::string range(const Parameter& parameter) {
  return parameter.choices.empty() ? std::to_string(parameter.least) + " to " + std::to_string(parameter.most)
                                   : joined(parameter.choices);
}

std::int64_t value_of(const Parameter& parameter, const std::string& text, const std::string& benchmark) {
  for (std::size_t index = 0; index < parameter.choices.size(); ++index) {
    if (parameter.choices[index] == text) {
      return static_cast<std::int64_t>(index);
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!parameter.choices.empty() || !whole || value < parameter.least || value > parameter.most) {
    throw UserError("the value is not allowed", benchmark + ": " + parameter.name, text, range(parameter));
  }
  return value;
}

Parameter workers_parameter() {
  return {"workers", standard_workers(), standard_workers(), most_workers(), "threads, each on a processor of its own"};
}

const Parameter* find(const std::vector<Parameter>& parameters, const std::string& name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) {
      return &parameter;
    }
  }
  return nullptr;
}

Task task_of(const Microbenchmark& benchmark, const std::vector<std::string>& given) {
  std::vector<Parameter> parameters = benchmark.parameters;
  parameters.push_back(workers_parameter());
  std::map<std::string, std::int64_t, std::less<>> values;
  for (const Parameter& parameter : parameters) {
    values[parameter.name] = parameter.standard;
  }
  std::string label = benchmark.name;
  for (const std::string& word : given) {
    const std::size_t cut = word.find('=');
    const std::string key = word.substr(0, cut);
    const Parameter* parameter = find(parameters, key);
    if (parameter == nullptr) {
      std::vector<std::string> names;
      for (const Parameter& known : parameters) {
        names.push_back(known.name);
      }
      throw UserError("unknown parameter", benchmark.name, key, joined(names));
    }
    values[key] = value_of(*parameter, word.substr(cut + 1), benchmark.name);
    if (key != "operations") {
      label += " " + word;
    }
  }
  const auto workers = static_cast<int>(values["workers"]);
  return {&benchmark, Values(std::move(values)), workers, std::move(label)};
}

}  // namespace

std::map<std::string, Microbenchmark, std::less<>>& microbenchmarks() {
  static std::map<std::string, Microbenchmark, std::less<>> all;
  return all;
}

std::vector<Task> tasks_of(const std::vector<std::string>& words) {
  std::vector<Task> tasks;
  for (std::size_t index = 0; index < words.size();) {
    const auto found = microbenchmarks().find(words[index]);
    if (found == microbenchmarks().end()) {
      std::vector<std::string> names;
      for (const auto& [name, benchmark] : microbenchmarks()) {
        names.push_back(name);
      }
      throw UserError("unknown microbenchmark", "command line", words[index], joined(names));
    }
    std::vector<std::string> given;
    for (++index; index < words.size() && words[index].find('=') != std::string::npos; ++index) {
      given.push_back(words[index]);
    }
    tasks.push_back(task_of(found->second, given));
  }
  return tasks;
}

std::string description() {
  std::string text;
  for (const auto& [name, benchmark] : microbenchmarks()) {
    text += name + ": " + benchmark.description + "\n";
    for (const Parameter& parameter : benchmark.parameters) {
      const std::string standard = parameter.choices.empty()
                                       ? std::to_string(parameter.standard)
                                       : parameter.choices[static_cast<std::size_t>(parameter.standard)];
      text += "  " + parameter.name + "=" + standard + "  " + parameter.description + " (" + range(parameter) + ")\n";
    }
  }
  return text;
}

}  // namespace manynode::calibration
