// manynode-simgrid: SimGrid as a network simulator for the same run files as manynode-fast.
#include "engine_main.hpp"
#include "simulation.hpp"

int main(int argc, char** argv) {
  namespace engine = manynode::smpi_engine;
  const std::string version = MANYNODE_SIMGRID_VERSION " (SimGrid " + engine::simgrid_version() + ")";
  return manynode::network::engine_main(
      argc, argv,
      {"manynode-simgrid",
       "simulates the communication of an application skeleton on a network with SMPI, the MPI layer of SimGrid",
       {"simgrid", version},
       engine::simulate_replica,
       engine::check});
}
