// The interface of a skeleton, and the registry in which engines find skeletons by name.
//
// Contract. A skeleton object is one rank of the application. step() emits the calls of one iteration and returns false
// after the last one. The first step may include the calls before the loop, the last step those after it. A skeleton
// never blocks, never looks at data, and depends only on the parameters, the rank and the number of ranks: two calls of
// make() with the same arguments emit the same streams.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "manynode/mpi.hpp"
#include "manynode/parameters.hpp"

namespace manynode {

class Skeleton {
 public:
  virtual ~Skeleton() = default;

  // Emits one iteration into `mpi`; returns false when this was the last one.
  virtual bool step(Mpi& mpi) = 0;

  // Skips the next iteration if its calls are exactly those of the iteration before and it is not the last one. Else
  // returns false and does nothing. This saves engines the time to emit the calls again.
  virtual bool repeat() { return false; }
};

// For repeat() of a loop of `iterations` in which all but the first and the last are alike; `over` counts those done.
template <std::integral Count>
bool repeats(Count& over, std::type_identity_t<Count> iterations) {
  if (over < 2 || over + 1 >= iterations) return false;
  ++over;
  return true;
}

// Shared by all ranks of a run: checked parameters and the names of compute phases. One object per run.
class Application {
 public:
  virtual ~Application() = default;

  virtual std::string name() const = 0;

  // Phase names in the order of their indices; they are the names in the timing profile.
  virtual std::vector<std::string> phases() const = 0;

  // Number of steps of each rank, if known beforehand: engines use it to estimate the time left.
  virtual std::optional<std::uint64_t> steps() const { return std::nullopt; }

  // Whether its ranks make one-sided calls. An engine may have to prepare its targets.
  virtual bool one_sided() const { return false; }

  virtual std::unique_ptr<Skeleton> make(int rank, int size) const = 0;
};

// Throws UserError (a std::invalid_argument) with place and remedy if the name is unknown or a parameter is wrong.
// Missing parameters take the application's defaults.
std::unique_ptr<Application> make_application(const std::string& name, const Parameters& parameters, int size);

// Sorted.
std::vector<std::string> application_names();

// Throws as make_application.
std::span<const ParameterDeclaration> application_parameters(const std::string& name);

// Receives complete parameters: every declared one, of the declared type, within bounds.
using ApplicationFactory = std::unique_ptr<Application> (*)(const Parameters& parameters, int size);

struct ApplicationEntry {
  const char* name;
  ApplicationFactory make;
  std::span<const ParameterDeclaration> (*parameters)();
};

// How to add an application. A folder <name>/ with an application.yaml, under skeletons/ or listed in the CMake
// variable MANYNODE_SKELETON_DIRS, has a skeleton.cpp that defines
//   std::unique_ptr<Application> manynode::<name>::create(const Parameters& parameters, int ranks);
// The build generates declared/<name>.hpp (this function, the table of parameters, the phases) from application.yaml,
// and the list of applications, because the linker drops unreferenced registration objects of a static library. A
// program may add its own applications before main with this object:
struct ApplicationRegistration {
  explicit ApplicationRegistration(const ApplicationEntry& entry);
};

}  // namespace manynode
