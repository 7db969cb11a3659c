// The part of the run file that is about jobs; run_config.cpp has the rest.
#pragma once

#include "run_config.hpp"
#include "strict_json.hpp"

namespace manynode::network {

JobConfig read_job(StrictObject object);

// Throws UserError when a job does not fit the machine, the jobs each other, or their injection control the network.
void check_jobs(const RunConfig& config);

}  // namespace manynode::network
