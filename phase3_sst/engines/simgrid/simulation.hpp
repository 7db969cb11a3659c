// One replica of a run, simulated by SimGrid in a process of its own: SimGrid has one engine for each process, cannot
// be started twice, and ends the process when something is wrong with it.
#pragma once

#include <vector>

#include "replica_result.hpp"

namespace manynode::smpi_engine {

// The same arguments, results and errors as network::simulate(). A run that asks for what this engine cannot do throws
// UserError naming it.
network::ReplicaResult simulate_replica(const std::vector<network::Program>& programs, const network::RunConfig& config,
                                        std::uint32_t replica, const network::ProgressSink& progress = {});

// Throws UserError naming what the run asks for and this engine cannot do.
void check(const network::RunConfig& config);

// "3.32.0"
std::string simgrid_version();

}  // namespace manynode::smpi_engine
