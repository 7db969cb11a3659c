// The application, as described by its skeleton, cannot finish: deadlock, unmatched messages, a receive that is too
// small. Exit code 5; the details list who waits for what, one fact per line.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace manynode::network {

class SimulationError : public std::runtime_error {
 public:
  SimulationError(const std::string& what, std::vector<std::string> details, std::string remedy)
      : std::runtime_error(what), details(std::move(details)), remedy(std::move(remedy)) {}

  std::vector<std::string> details;
  std::string remedy;
};

}  // namespace manynode::network
