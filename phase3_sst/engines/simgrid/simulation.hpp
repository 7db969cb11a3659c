// One replica of a run, simulated by SimGrid in a separate process: SimGrid has one engine per process, cannot be
// started twice, and ends the process on an internal error.
#pragma once

#include <vector>

#include "replica_result.hpp"

namespace manynode::smpi_engine {

// The same arguments, results and errors as network::simulate(). A run that needs an unsupported feature throws a
// UserError that names it.
network::ReplicaResult simulate_replica(const std::vector<network::Program>& programs, const network::RunConfig& config,
                                        std::uint32_t replica, const network::ProgressSink& progress = {});

// Throws a UserError that names a feature of the run that this engine does not support.
void check(const network::RunConfig& config);

// "3.32.0"
std::string simgrid_version();

}  // namespace manynode::smpi_engine
