// manynode-fast: the built-in network simulator.
#include <cstdlib>

#include <unistd.h>

#include "engine_main.hpp"
#include "simulator.hpp"

namespace {

// Millions of small records are far apart, and pages of 4 KiB cause many TLB misses. With large pages, two iterations
// of HPCG on 65,536 ranks took 9 % less processor time. The C library only reads the setting at start, so the program
// restarts itself. A value set by the user is respected.
void with_large_pages(char** argv) {
#ifdef __GLIBC__
  if (std::getenv("GLIBC_TUNABLES") != nullptr) return;
  if (setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1) == 0) execv("/proc/self/exe", argv);
#else
  (void)argv;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  with_large_pages(argv);
  return manynode::network::engine_main(argc, argv,
                                        {"manynode-fast",
                                         "simulates the communication of an application skeleton on a network",
                                         {"fast", MANYNODE_FAST_VERSION},
                                         manynode::network::simulate,
                                         {}});
}
