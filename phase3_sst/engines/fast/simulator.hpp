// One replica of a run: ranks that execute primitives, MPI matching, and the eager and rendezvous protocols.
//
// A rank has its own clock and runs ahead of the events: until it has to wait, its work does not depend on others.
// Computing and sending therefore need no events; only a message that leaves the rank becomes an event at the rank's
// time. A receive may be posted before an earlier message arrives; matching is unaffected. Messages keep their order of
// arrival, receives their posting order, and both prefer the earliest match: there is only one matching. Ranks pause
// between steps to limit memory to the messages of about one step.
#pragma once

#include <vector>

#include "replica_result.hpp"
#include "run_config.hpp"

namespace manynode::network {

// Simulates one replica of `config` from start to end. Throws SimulationError when the ranks do not finish or messages
// remain, and UserError for rank classes that a profile lacks.
ReplicaResult simulate(const std::vector<Program>& programs, const RunConfig& config, std::uint32_t replica,
                       const ProgressSink& progress = {});

}  // namespace manynode::network
