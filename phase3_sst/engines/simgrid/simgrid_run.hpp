// Configures, runs and ends SimGrid's engine. Only once per process.
#pragma once

#include <vector>

#include "world.hpp"

namespace manynode::smpi_engine {

// Simulates; the outlet ends the process with a result or an error. Throws errors found before simulated time starts.
void run_simgrid(const std::vector<network::Program>& programs, const network::RunConfig& config, std::uint32_t replica,
                 const Outlet& outlet);

}  // namespace manynode::smpi_engine
