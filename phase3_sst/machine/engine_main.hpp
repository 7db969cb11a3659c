// The program of an engine: command line, run file, replicas one after the other, result directory, errors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "replica_result.hpp"
#include "result_writer.hpp"

namespace manynode::network {

// network::simulate() or the corresponding function of another engine.
using Simulate = std::function<ReplicaResult(const std::vector<Program>&, const RunConfig&, std::uint32_t replica,
                                             const ProgressSink&)>;

struct EngineProgram {
  std::string program;  // "manynode-fast"
  std::string purpose;  // for --help
  EngineName engine;    // for the result
  Simulate simulate;
  // Throws UserError for a run file that needs something this engine does not support; empty: it supports everything.
  std::function<void(const RunConfig&)> check;
};

// PROGRAM RUN.json --output FOLDER simulates one run. PROGRAM --check RUN.json... prints a line on stdout for each run
// that can be simulated, and stops at the first that cannot. Returns the exit code: 0, 2 (run file or command line), 3
// (timing profile) or 5 (the ranks cannot finish). Errors are one line of JSON on stderr.
int engine_main(int argc, char** argv, const EngineProgram& engine);

}  // namespace manynode::network
