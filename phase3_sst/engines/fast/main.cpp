// manynode-fast: the built-in network simulator.
#include <cstdlib>

#include <unistd.h>

#include "engine_main.hpp"
#include "simulator.hpp"

namespace {

// Millions of small records lie far apart, and with pages of 4 KiB the processor looks up most of their addresses anew:
// with large pages two iterations of HPCG on 65,536 ranks took 9 % less processor time. The C library can be told so
// only before a program starts, hence once more from the start. Whoever has set the variable is left alone.
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
