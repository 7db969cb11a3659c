// manynode-fast: the built-in network simulator.
#include "engine_main.hpp"

int main(int argc, char** argv) {
  return manynode::fast::engine_main(argc, argv,
                                     {"manynode-fast",
                                      "simulates the communication of an application skeleton on a network",
                                      {"fast", MANYNODE_FAST_VERSION},
                                      manynode::fast::simulate});
}
