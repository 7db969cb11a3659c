/* How a program under the engine qemu tells the plugin where it is (C and C++; the markers library includes it, too).
 *
 * A mark is a seven-byte no-operation with a displacement of its own: any processor executes it and nothing happens.
 * The plugin finds marks when it translates code. Once, the program gives the plugin the address of a page by a system
 * call that no kernel knows; without the plugin the call fails with ENOSYS. The plugin then names its counters in the
 * page, and writes there what a compute phase has counted when its end is marked. */
#ifndef MANYNODE_QEMU_MARKS_H
#define MANYNODE_QEMU_MARKS_H

#include <stdint.h>

enum mn_mark {
  MN_MARK_STOP,       /* a compute phase ends in an MPI call that looks for its messages */
  MN_MARK_STOP_BLIND, /* the same, and the call may wait without looking */
  MN_MARK_START,      /* a compute phase begins */
  MN_MARK_LOOK,       /* the rank is about to look for its messages */
  MN_MARK_IN_VAIN,    /* it has found none: the plugin lets it sleep */
  MN_MARK_LEAVE,      /* the rank makes no more calls */
  MN_MARKS
};

/* nopl 0x4d4e4dXX(%rax) */
#define MN_MARK_WORD 0x4d4e4d00u
#define MN_MARK(kind) __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.long %c0" : : "i"(MN_MARK_WORD + (kind)) : "memory")

#define MN_CALL 0x4d4e4dL /* the system call; arguments: what, and three more */
enum mn_call {
  MN_CALL_PAGE,   /* address of the page, rank of MPI_COMM_WORLD */
  MN_CALL_INJECT, /* address, bytes, 1: written from outside, 0: read: a message of a rank outside the node */
};

#define MN_PAGE_MAGIC 0x65646f6e796e616dULL /* "manynode" */
enum { MN_PAGE_VERSION = 1, MN_PAGE_COUNTERS = 32, MN_PAGE_NAME = 24 };

struct mn_page {
  uint64_t magic; /* set by the plugin: it is there */
  uint32_t version, count;
  char names[MN_PAGE_COUNTERS][MN_PAGE_NAME];
  uint64_t values[MN_PAGE_COUNTERS]; /* of the compute phase that has ended last */
};

#endif
