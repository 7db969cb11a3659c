// The command line: tasks, each a microbenchmark's name followed by `key=value`.
#pragma once

#include <string>
#include <vector>

#include "microbenchmark.hpp"

namespace manynode::calibration {

struct Task {
  const Microbenchmark* benchmark;
  Values values;
  int workers;
  // The name and the given values except `operations`, as on the command line: "chase bytes=65536 pages=huge".
  std::string label;
};

// Throws UserError for an unknown name or key, or a wrong value.
std::vector<Task> tasks_of(const std::vector<std::string>& words);

// The microbenchmarks with their parameters, for people.
std::string description();

}  // namespace manynode::calibration
