// The rules by which MPI libraries choose algorithms, one file each. README.md in the folder above has the sources and
// maps their algorithms to ours.
#pragma once

#include <limits>

#include "algorithms.hpp"

namespace manynode::collectives {

Algorithm mpich_rules(CallKind kind, int size, std::uint64_t bytes);
Algorithm openmpi_rules(CallKind kind, int size, std::uint64_t bytes);

inline Rules rules_of(Library library) { return library == Library::Mpich ? mpich_rules : openmpi_rules; }

inline constexpr int kAnySize = std::numeric_limits<int>::max();
inline constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

// One line of a table of rules: it applies below the given numbers of ranks and bytes.
struct Line {
  int ranks_below;
  std::uint64_t bytes_below;
  Algorithm algorithm;
};

// The first line that applies; the last line of every table always applies.
constexpr Algorithm first_that_holds(std::span<const Line> table, int size, std::uint64_t bytes) {
  for (const Line& line : table.first(table.size() - 1)) {
    if (size < line.ranks_below && bytes < line.bytes_below) {
      return line.algorithm;
    }
  }
  return table.back().algorithm;
}

}  // namespace manynode::collectives
