// One replica of a run: ranks that execute primitives, MPI matching, and the eager and rendezvous protocols.
//
// A rank has a clock of its own and runs ahead of the events: what it does before it has to wait depends on nobody
// else, so computing and sending need no event of their own, and what leaves the rank (a message) becomes an event at
// the rank's time. Receives may so be posted before messages that arrive earlier in simulated time, which changes no
// pair: messages keep their order of arrival, receives their order of posting, and both prefer the earliest that fits,
// so that there is only one matching. Ranks pause between steps, so that memory holds the messages of about one step.
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
