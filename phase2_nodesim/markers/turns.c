/* Taking turns: a job of several nodes on one host shares what each node has for itself on the machine, caches and the
 * way to memory. With MANYNODE_MARKERS_TURNS=NAME ranks compute only while no rank of another node does; MPI calls need
 * no turn. Ranks of one node compute side by side, as they do there.
 *
 * The turn is one word of shared memory, /dev/shm/NAME on each host: the node that has it and how many of its ranks
 * compute. Whoever waits sleeps until somebody leaves (a futex: polling wakes up on the cores of those who compute and
 * costs them their caches): that takes wall time, which nobody measures, because a compute phase begins when its rank
 * has the turn. Ranks that wait politely in MPI test only while nobody else computes. A rank that dies with the turn
 * ends its job, as every rank that dies does.
 *
 * With MANYNODE_MARKERS_TURN_CORES=N all keep to the first N cores that they may use, as many as one node computes on:
 * a core that had nothing to do is slow when its next turn comes, with cold caches, and on a virtual machine with
 * others' work on it.
 *
 * Not with MPI_THREAD_MULTIPLE, where a rank has no one moment at which it computes. */
#define _GNU_SOURCE
#include "markers.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counter_math.h"

enum { COUNT_BITS = 32, LONGEST_SLEEP_NS = 100000000 };
#define COUNT ((UINT64_C(1) << COUNT_BITS) - 1)

/* What is shared; its first bytes are zero, which is "nobody's". */
struct turn {
  _Atomic uint64_t holder; /* (node + 1) << 32 | ranks of it that compute */
  _Atomic uint32_t left;   /* how often the turn became free: what those who wait watch */
};

static struct turn* turn;
static bool has_it;
static char turn_name[256];

/* Threads that the rank starts later keep to them, too. */
static void keep_to_cores(uint64_t wanted) {
  cpu_set_t allowed;
  if (wanted == 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  uint64_t kept = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed) && ++kept > wanted) CPU_CLR(core, &allowed);
  }
  if (sched_setaffinity(0, sizeof allowed, &allowed) != 0)
    perror("manynode markers: ranks that take turns keep all cores");
}

void mk_turns_init(void) {
  const char* name = getenv("MANYNODE_MARKERS_TURNS");
  if (!name || !*name || strlen(name) >= sizeof turn_name || mk_state.node < 0 || mk_state.multiple) return;
  const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
  if (file < 0) {
    perror("manynode markers: no shared memory to take turns in");
    return;
  }
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
  keep_to_cores(mk_parse_number(getenv("MANYNODE_MARKERS_TURN_CORES"), 0));
}

bool mk_takes_turns(void) { return turn != NULL; }

/* Until the turn becomes free, if `left` still is how often it has been. */
static void sleep_since(uint32_t left) {
  const struct timespec longest = {.tv_nsec = LONGEST_SLEEP_NS};
  (void)syscall(SYS_futex, &turn->left, FUTEX_WAIT, left, &longest, NULL, 0);
}

static bool is_ours(uint64_t holder) {
  return !(holder & COUNT) || holder >> COUNT_BITS == (uint64_t)(mk_state.node + 1);
}

void mk_take_turn(void) {
  if (!turn || has_it) return;
  const uint64_t own = (uint64_t)(mk_state.node + 1) << COUNT_BITS;
  for (;;) {
    const uint32_t left = atomic_load(&turn->left);
    uint64_t holder = atomic_load(&turn->holder);
    if (!is_ours(holder)) {
      sleep_since(left);
    } else if (atomic_compare_exchange_strong(&turn->holder, &holder, own | ((holder & COUNT) + 1))) {
      break;
    }
  }
  has_it = true;
}

/* Messages are copied while somebody tests for them, which takes from the way to memory of who computes. */
void mk_await_quiet(void) {
  while (turn) {
    const uint32_t left = atomic_load(&turn->left);
    if (is_ours(atomic_load(&turn->holder))) return;
    sleep_since(left);
  }
}

void mk_leave_turn(void) {
  if (!turn || !has_it) return;
  has_it = false;
  if ((atomic_fetch_sub(&turn->holder, 1) & COUNT) != 1) return;
  atomic_fetch_add(&turn->left, 1);
  (void)syscall(SYS_futex, &turn->left, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* The name goes with the first rank that is done; the memory stays with those that have it open. */
void mk_end_turns(void) {
  mk_leave_turn();
  if (turn) shm_unlink(turn_name);
}
