// Whole runs of an application's skeleton, for the tests of applications.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "matcher.hpp"

namespace manynode::test {

// All that one rank emits.
struct Stream {
  std::vector<std::string> phases;
  std::vector<Call> calls;
  int steps{0};

  int count(const std::string& phase) const {
    return static_cast<int>(std::count(phases.begin(), phases.end(), phase));
  }
};

inline Stream stream_of(const Application& application, int rank, int size) {
  Stream result;
  Communicators communicators(rank, size);
  const std::vector<std::string> names = application.phases();
  const std::unique_ptr<Skeleton> skeleton = application.make(rank, size);
  for (bool more = true; more; ++result.steps) {
    Calls calls;
    Mpi mpi(rank, size, calls, communicators);
    more = skeleton->step(mpi);
    for (const Call& call : calls.calls) {
      result.calls.push_back(call);
      if (call.kind == CallKind::Compute) {
        result.phases.push_back(names.at(call.first));
      }
    }
  }
  return result;
}

// Executes all ranks with rendezvous; the test fails when one is stuck or a message is left.
inline void run_to_the_end(const Application& application, int size) {
  std::vector<std::vector<Primitive>> programs;
  const CollectiveChoice choice;
  for (int rank = 0; rank < size; ++rank) {
    Communicators communicators(rank, size);
    Lowering lowering(rank, choice, communicators);
    const std::unique_ptr<Skeleton> skeleton = application.make(rank, size);
    programs.emplace_back();
    for (bool more = true; more;) {
      Calls calls;
      Mpi mpi(rank, size, calls, communicators);
      more = skeleton->step(mpi);
      for (const Call& call : calls.calls) {
        lowering.lower(call, calls, programs.back());
      }
    }
  }
  Matcher(std::move(programs), SendMode::Rendezvous).run();
}

}  // namespace manynode::test
