/* Taking turns: a job of several nodes on one host shares what each node has for itself on the machine, caches and the
 * way to memory. With MANYNODE_MARKERS_TURNS=NAME ranks compute only while no rank of another node does; MPI calls need
 * no turn. Ranks of one node compute side by side, as they do there.
 *
 * The turn is one word of shared memory, /dev/shm/NAME on each host: the node that has it and how many of its ranks
 * compute. Whoever waits sleeps and looks again: that takes wall time, which nobody measures, because a compute phase
 * begins when its rank has the turn. A rank that dies with the turn ends its job, as every rank that dies does.
 *
 * Not with MPI_THREAD_MULTIPLE, where a rank has no one moment at which it computes. */
#define _GNU_SOURCE
#include "markers.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 20000, COUNT_BITS = 32 };

static _Atomic uint64_t* turn; /* (node + 1) << 32 | ranks of it that compute */
static bool has_it;
static char turn_name[256];

void mk_turns_init(void) {
  const char* name = getenv("MANYNODE_MARKERS_TURNS");
  if (!name || !*name || strlen(name) >= sizeof turn_name || mk_state.node < 0 || mk_state.multiple) return;
  const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0) {
    perror("manynode markers: no shared memory to take turns in");
    return;
  }
  /* The first one's bytes are zero, which is "nobody's". */
  void* memory = ftruncate(file, sizeof *turn) == 0
                     ? mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) {
    perror("manynode markers: no shared memory to take turns in");
    return;
  }
  turn = memory;
  strcpy(turn_name, name);
}

void mk_take_turn(void) {
  if (!turn || has_it) return;
  const uint64_t own = (uint64_t)(mk_state.node + 1) << COUNT_BITS;
  for (;;) {
    uint64_t seen = atomic_load(turn);
    const uint64_t count = seen & (((uint64_t)1 << COUNT_BITS) - 1);
    if ((count == 0 || seen - count == own) && atomic_compare_exchange_strong(turn, &seen, own | (count + 1))) break;
    if (count) nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  has_it = true;
}

void mk_leave_turn(void) {
  if (!turn || !has_it) return;
  has_it = false;
  atomic_fetch_sub(turn, 1);
}

/* The name goes with the first rank that is done; the memory stays with those that have it open. */
void mk_end_turns(void) {
  mk_leave_turn();
  if (turn) shm_unlink(turn_name);
}
