/* Code that depends on the instruction set. A new one needs a file with the same functions: the simulator's time, marks
 * for its statistics, a pause of given length, the flush of one cache line, an exit with a code, a system call. */
#ifndef MANYNODE_BRIDGE_ARCH_H
#define MANYNODE_BRIDGE_ARCH_H

#if defined(__x86_64__)
#include "arch_x86_64.h"
#else
#error "the bridge library knows x86-64 only: add shim/arch_<name>.h and name it here"
#endif

enum { MB_LINE_BYTES = 64 };

#endif
