// SimGrid's engine, its configuration and its end. Once in the life of a process.
#pragma once

#include <vector>

#include "world.hpp"

namespace manynode::smpi_engine {

// Simulates; the outlet ends the process with a result or an error. Throws what is found out before time moves.
void run_simgrid(const std::vector<network::Program>& programs, const network::RunConfig& config, std::uint32_t replica,
                 const Outlet& outlet);

}  // namespace manynode::smpi_engine
