// Patterns by name.
#include "skeleton.hpp"

#include <algorithm>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"

namespace manynode::patterns {
namespace {

const PatternEntry& find(const std::string& name) {
  std::vector<std::string> names;
  for (const PatternEntry* entry : pattern_entries()) {
    if (name == entry->name) {
      return *entry;
    }
    names.emplace_back(entry->name);
  }
  throw UserError("unknown pattern", "pattern", name, joined(names), did_you_mean(name, names));
}

// A parameter without effect is an error.
void check_that_all_serve(const PatternEntry& entry, const Parameters& given) {
  std::vector<std::string> serve = {"pattern", "iterations"};
  serve.insert(serve.end(), entry.parameters.begin(), entry.parameters.end());
  for (const ParameterDeclaration& declaration : parameter_declarations()) {
    const bool serves = std::find(serve.begin(), serve.end(), declaration.name) != serve.end();
    const ParameterValue& value = given.values().at(declaration.name);
    if (!serves && value != declaration.default_value) {
      throw UserError(std::string("the pattern ") + entry.name + " has no such parameter", declaration.name,
                      to_text(value), joined(serve), "leave it out or choose another pattern");
    }
  }
}

}  // namespace

std::unique_ptr<Application> create(const Parameters& parameters, int ranks) {
  const PatternEntry& entry = find(parameters.text("pattern"));
  check_that_all_serve(entry, parameters);
  return std::make_unique<Patterns>(entry.make(parameters, ranks), parameters.integer("iterations", 1));
}

std::unique_ptr<Skeleton> Patterns::make(int, int) const {
  return std::make_unique<PatternRank>(*pattern_, iterations_);
}

bool PatternRank::step(Mpi& mpi) {
  if (!prepared_) {
    pattern_.prepare(mpi, groups_);
    prepared_ = true;
  }
  pattern_.iteration(mpi, groups_);
  return --left_ > 0;
}

}  // namespace manynode::patterns
