/* Under Valgrind's callgrind: one dump per compute phase, named by the record's sequence number, and a reset after each
 * MPI call, so that a dump holds the events of one compute phase and nothing of MPI. */
#include "markers.h"

#if MK_HAVE_CALLGRIND
#include <valgrind/callgrind.h>

bool mk_callgrind_built(void) { return true; }

bool mk_on_valgrind(void) { return RUNNING_ON_VALGRIND != 0; }

/* The name of the next dump, made beforehand: work between the application's call and the dump would count as the
 * application's, and would differ with the number of digits. */
static char name[24];
static const char* next_name = "";

void mk_callgrind_prepare(uint64_t sequence) {
  char* at = name + sizeof name - 1;
  *at = 0;
  do {
    *--at = (char)('0' + sequence % 10);
    sequence /= 10;
  } while (sequence);
  next_name = at;
}

void mk_callgrind_dump(void) { CALLGRIND_DUMP_STATS_AT(next_name); }

/* Started with --instr-atstart=no, callgrind instruments from the first call here on, which ends MPI_Init: what the MPI
 * library does to start is not known to it then, and every dump and reset after that is several times cheaper. */
void mk_callgrind_zero(void) {
  static bool started;
  if (!started) CALLGRIND_START_INSTRUMENTATION;
  started = true;
  CALLGRIND_ZERO_STATS;
}

#else

bool mk_callgrind_built(void) { return false; }
bool mk_on_valgrind(void) { return false; }
void mk_callgrind_prepare(uint64_t sequence) { (void)sequence; }
void mk_callgrind_dump(void) {}
void mk_callgrind_zero(void) {}

#endif
