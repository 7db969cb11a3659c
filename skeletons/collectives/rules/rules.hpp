// The rules by which MPI libraries choose algorithms, one file each. README.md in the folder above has the sources and
// says which of our algorithms stands for which of theirs.
#pragma once

#include <limits>

#include "algorithms.hpp"

namespace manynode::collectives {

Algorithm mpich_rules(CallKind kind, int size, std::uint64_t bytes);
Algorithm openmpi_rules(CallKind kind, int size, std::uint64_t bytes);

inline constexpr int kAnySize = std::numeric_limits<int>::max();
inline constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

// One line of a table of rules: holds for fewer ranks and fewer bytes than stated.
struct Line {
  int ranks_below;
  std::uint64_t bytes_below;
  Algorithm algorithm;
};

// The first line that holds; the last one of every table holds for all.
constexpr Algorithm first_that_holds(std::span<const Line> table, int size, std::uint64_t bytes) {
  for (const Line& line : table.first(table.size() - 1)) {
    if (size < line.ranks_below && bytes < line.bytes_below) {
      return line.algorithm;
    }
  }
  return table.back().algorithm;
}

}  // namespace manynode::collectives
