// The interface of a communication pattern. A pattern is one file, <name>.cpp, that defines
//   extern const PatternEntry <name>_pattern;
// The build writes the list of patterns: a new one needs only its own file, a line in the README and a test. One object
// serves all ranks of a run.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "manynode/mpi.hpp"
#include "manynode/parameters.hpp"

namespace manynode::patterns {

// Communicators that a pattern may make for a rank in its first iteration and finds again in the others.
using Groups = std::array<Communicator, 2>;

class Pattern {
 public:
  virtual ~Pattern() = default;

  // Called once on every rank, before its first iteration.
  virtual void prepare(Mpi& /*mpi*/, Groups& /*groups*/) const {}
  virtual void iteration(Mpi& mpi, const Groups& groups) const = 0;
};

struct PatternEntry {
  const char* name;
  // Throws UserError if the parameters do not fit the number of ranks.
  std::unique_ptr<Pattern> (*make)(const Parameters& parameters, int size);
  // Parameters beside `pattern` and `iterations`, which all patterns have; any other parameter is an error.
  std::vector<const char*> parameters;
};

// Written by the build (patterns.cpp.in).
std::span<const PatternEntry* const> pattern_entries();

inline std::uint64_t bytes_of(const Parameters& parameters) {
  return static_cast<std::uint64_t>(parameters.integer("bytes", 0));
}

}  // namespace manynode::patterns
