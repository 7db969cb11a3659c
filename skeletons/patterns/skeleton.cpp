// Patterns by name, and the parameters of all of them.
#include "skeleton.hpp"

#include <algorithm>

#include "../source/nearest.hpp"
#include "manynode/error_report.hpp"

namespace manynode::patterns {
namespace {

std::span<const ParameterDeclaration> parameters() {
  constexpr double kMost = 2147483647;
  static const std::vector<ParameterDeclaration> declarations = {
      {"pattern", std::string("ping-pong"), "which one; README.md draws them"},
      {"iterations", std::int64_t{10}, "how often; a step each", 1, 1e9},
      {"bytes", std::int64_t{1024}, "length of a message; of a collective, one rank's contribution", 0, 1e15},
      {"a", std::int64_t{0}, "ping-pong: the rank that begins", 0, kMost},
      {"b", std::int64_t{-1}, "ping-pong: the rank that answers; -1 is the last one", -1, kMost},
      {"distance", std::int64_t{1}, "shift: rank i sends to rank i + distance", 1, kMost},
      {"senders", std::int64_t{0}, "incast: how many ranks send to rank 0; 0 is all of them", 0, kMost},
      {"neighbours", std::int64_t{6}, "halo3d: 6 (faces) or 26 (edges and corners, too)", 6, 26},
      {"periodic", true, "halo3d, halo4d: the last rank of a line is a neighbour of the first"},
      {"allreduce_bytes", std::int64_t{0}, "halo3d, halo4d: an allreduce of this length ends an iteration; 0 is none",
       0, 1e15},
      {"grid", std::string(), "halo3d, halo4d, sweep2d, transpose: extents, as in 4x2x2; empty: as equal as can be"},
      {"chunks", std::int64_t{8}, "sweep2d: messages that follow each other in a sweep", 1, 1e6},
      {"collective", std::string("allreduce"), "collective: which one"},
      {"root", std::int64_t{0}, "collective: the root, where there is one", 0, kMost},
      {"seed", std::int64_t{1}, "random-ring: of the order of ranks", 0, 1e15},
      {"messages", std::int64_t{8}, "congestor-*: messages of a rank that are under way at a time; in README.md", 1,
       1e6},
      {"pause_us", 0.0, "congestor-*: microseconds without messages after each iteration", 0, 1e9},
      {"roots", std::int64_t{1}, "congestor-incast-*, congestor-bcast-*: ranks at which the messages end or begin", 1,
       kMost},
  };
  return declarations;
}

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
  for (const ParameterDeclaration& declaration : parameters()) {
    const bool serves = std::find(serve.begin(), serve.end(), declaration.name) != serve.end();
    const ParameterValue& value = given.values().at(declaration.name);
    if (!serves && value != declaration.default_value) {
      throw UserError(std::string("the pattern ") + entry.name + " has no such parameter", declaration.name,
                      to_text(value), joined(serve), "leave it out or choose another pattern");
    }
  }
}

std::unique_ptr<Application> make(const Parameters& parameters, int size) {
  const PatternEntry& entry = find(parameters.text("pattern"));
  check_that_all_serve(entry, parameters);
  return std::make_unique<Patterns>(entry.make(parameters, size), parameters.integer("iterations", 1));
}

}  // namespace

extern const ApplicationEntry application;
const ApplicationEntry application{"patterns", make, parameters};

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
