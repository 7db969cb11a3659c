// The interface of a skeleton, and the registry in which engines find skeletons by name.
//
// Contract. A skeleton object is one rank of the application. step() emits the calls of one iteration (the first step
// may also hold what precedes the loop, the last what follows it) and returns false when it has emitted the last one.
// It never blocks, never looks at data, and depends on nothing but the parameters, the rank and the number of ranks:
// two calls of make() with the same arguments emit the same streams.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manynode/mpi.hpp"
#include "manynode/parameters.hpp"

namespace manynode {

class Skeleton {
 public:
  virtual ~Skeleton() = default;

  // Emits one iteration into `mpi`; returns false when this was the last one.
  virtual bool step(Mpi& mpi) = 0;

  // Takes the next iteration without emitting it, where its calls are those of the iteration before to the last detail
  // and it is not the last one; else returns false and does nothing. Saves engines the time of emitting it again.
  virtual bool repeat() { return false; }
};

// For repeat(), of a loop of `iterations` that are all alike but for the first and the last: `over` counts those done.
inline bool repeats(int& over, int iterations) {
  if (over < 2 || over + 1 >= iterations) return false;
  ++over;
  return true;
}

// What all ranks of a run share: checked parameters and the names of compute phases. One object per run.
class Application {
 public:
  virtual ~Application() = default;

  virtual std::string name() const = 0;

  // Phase names in the order of their indices; they are the names in the timing profile.
  virtual std::vector<std::string> phases() const = 0;

  // How many steps each rank takes, where that is known beforehand: engines tell the time left by it.
  virtual std::optional<std::uint64_t> steps() const { return std::nullopt; }

  virtual std::unique_ptr<Skeleton> make(int rank, int size) const = 0;
};

// Throws UserError (a std::invalid_argument) with place and remedy when the name is unknown or a parameter is wrong.
// Parameters that are not given take the defaults that the application declares.
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

// How an application is found. A folder <name>/ with a skeleton.hpp, under skeletons/ or named in the CMake variable
// MANYNODE_SKELETON_DIRS, has a skeleton.cpp that defines
//   const ApplicationEntry manynode::<name>::application;
// and the build writes the list of them. (A list, because the linker drops registration objects of a static library
// to which nothing refers.) A program may add applications of its own before main with this object:
struct ApplicationRegistration {
  explicit ApplicationRegistration(const ApplicationEntry& entry);
};

}  // namespace manynode
