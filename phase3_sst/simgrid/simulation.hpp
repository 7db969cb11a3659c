// One replica of a run, simulated by SimGrid in a separate process: SimGrid has one engine per process, cannot be
// started twice, and ends the process on an internal error.
#pragma once

#include <vector>

#include "simulator.hpp"

namespace manynode::smpi_engine {

// The same arguments, results and errors as fast::simulate(). A run that needs an unsupported feature throws a
// UserError that names it.
fast::ReplicaResult simulate_replica(const std::vector<fast::Program>& programs, const fast::RunConfig& config,
                                     std::uint32_t replica, const fast::ProgressSink& progress = {});

// Throws a UserError that names a feature of the run that this engine does not support.
void check(const fast::RunConfig& config);

// "3.32.0"
std::string simgrid_version();

}  // namespace manynode::smpi_engine
