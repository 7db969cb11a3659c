// The jobs of the run file; run_config.cpp has the rest.
#pragma once

#include "run_config.hpp"
#include "strict_json.hpp"

namespace manynode::network {

JobConfig read_job(StrictObject object);

// Throws UserError if a job does not fit the machine, the jobs conflict, or injection control does not fit the network.
void check_jobs(const RunConfig& config);

}  // namespace manynode::network
