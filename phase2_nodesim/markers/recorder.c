/* The hot path: what happens at the begin and at the end of every recorded MPI call. */
#define _GNU_SOURCE
#include "wrapping.h"

#include <pthread.h>
#include <time.h>

struct mk_state mk_state;
__thread int mk_depth __attribute__((tls_model("initial-exec")));
__thread void* mk_fortran_site __attribute__((tls_model("initial-exec")));

static const int* caller; /* tells the thread that called MPI_Init from others */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Only MPI_THREAD_MULTIPLE lets two threads be here at once; the other levels need no lock. */
void mk_lock(void) {
  if (mk_state.multiple) pthread_mutex_lock(&lock);
}

void mk_unlock(void) {
  if (mk_state.multiple) pthread_mutex_unlock(&lock);
}

static struct mk_record* open_record(int operation, void* site, uint64_t now) {
  uint64_t number;
  if (mk_record_slots() >= mk_state.max_records) {
    mk_state.truncated = true;
    mk_state.recording = false;
    return NULL;
  }
  struct mk_record* record = mk_new_record(&number);
  if (!record) {
    mk_state.truncated = true;
    mk_state.recording = false;
    return NULL;
  }
  record->time_in_ns = now; /* as the clock says it; nanoseconds when the file is written */
  record->operation = (uint16_t)operation;
  record->communicator = MK_NONE;
  record->peer = MK_NONE;
  record->peer2 = MK_NONE;
  record->tag = MK_NONE;
  record->request = MK_NONE;
  record->phase = mk_take_phase(&record->flags);
  if (mk_inside_fortran(site) && mk_fortran_site) site = mk_fortran_site;
  if (mk_guest.on) site = (void*)(uintptr_t)mk_guest.site;
  record->call_site = mk_site_number(site);
  return record;
}

struct mk_record* mk_begin(int operation, void* site) {
  if (__builtin_expect(!mk_state.recording, 0) || mk_depth) return NULL;
  if (mk_inside_mpi(site)) return NULL;
  if (mk_guest.on && !mk_guest.announced) return NULL;
  if (__builtin_expect(&mk_depth != caller, 0)) mk_not_followed("MPI", "calls of more than one thread");
  uint64_t counts[MK_MAX_COUNTERS];
  if (mk_state.counter_mode == MK_COUNTERS_CALLGRIND) mk_callgrind_dump();
  if (mk_state.counter_mode == MK_COUNTERS_NODE) mk_node_stop(operation, counts);
  /* first of all, so that nothing of this library counts as the application's work */
  const uint64_t now = mk_guest.on ? mk_guest.entry_ns : mk_now();
  mk_guest.announced = false;
  if (mk_counter_count) mk_counters_stop(counts);
  mk_lock();
  mk_waiting_stop(counts); /* before the turn goes: whoever gets it may take this core */
  mk_leave_turn();
  struct mk_record* record = open_record(operation, site, now);
  if (record) {
    uint64_t* to = (uint64_t*)(record + 1);
    for (int i = 0; i < mk_counter_count; i++) to[i] = counts[i];
    mk_depth = 1;
  }
  mk_unlock();
  if (!record) mk_node_leave(); /* no phase begins behind this call */
  return record;
}

bool mk_returned(struct mk_record* record, int result) {
  mk_lock();
  if (result != MPI_SUCCESS) {
    record->flags |= MK_RECORD_ERROR;
    mk_not_followed(mk_operation_names[record->operation], "an error returned to the program");
  }
  return result == MPI_SUCCESS;
}

/* Whether `record` and the two calls before it were in vain, in phases that need not be told apart (format.h). */
static bool repeats(const struct mk_record* record) {
  const uint64_t slots = mk_record_slots();
  if (!(record->flags & MK_RECORD_IN_VAIN) || mk_state.counter_mode == MK_COUNTERS_CALLGRIND || mk_guest.on)
    return false;
  if (slots < 3 || mk_record_at(slots - 1) != record) return false; /* another thread has begun a call since */
  const struct mk_record *before = mk_record_at(slots - 2), *first = mk_record_at(slots - 3);
  return before->flags & first->flags & MK_RECORD_IN_VAIN && record->phase == before->phase &&
         record->flags == before->flags && (!record->phase || record->flags & MK_RECORD_PHASE_INHERITED) &&
         record->time_in_ns >= before->time_out_ns;
}

/* Adds the last record to the one before it and drops it. */
static void fold_last(void) {
  const uint64_t slots = mk_record_slots();
  struct mk_record *into = mk_record_at(slots - 2), *record = mk_record_at(slots - 1);
  into->time_in_ns += record->time_in_ns - into->time_out_ns;
  into->time_out_ns = record->time_out_ns;
  into->bytes2++;
  uint64_t *to = (uint64_t*)(into + 1), *from = (uint64_t*)(record + 1);
  for (int i = 0; i < mk_counter_count; i++) to[i] += from[i];
  mk_drop_last_record();
}

void mk_end(struct mk_record* record) {
  record->detail = mk_take_detail();
  record->flags |= MK_RECORD_DONE;
  mk_depth = 0;
  mk_take_turn();
  mk_waiting_start();
  record->time_out_ns = mk_guest.on ? mk_guest.entry_ns : mk_now();
  if (repeats(record)) fold_last();
  mk_unlock();
  mk_counters_start();
  if (mk_state.counter_mode == MK_COUNTERS_CALLGRIND) {
    mk_callgrind_prepare(mk_record_slots());
    if (mk_state.sweep) mk_sweep();
    mk_callgrind_zero();
  }
  if (mk_state.counter_mode == MK_COUNTERS_NODE) mk_node_start();
}

/* MPI_Init is the first record; nothing was measured before it. */
void mk_start_recording(uint64_t start, void* site, int operation) {
  mk_set_record_bytes(sizeof(struct mk_record) + 8 * (size_t)mk_counter_count);
  mk_state.recording = true;
  caller = &mk_depth;
  struct mk_record* record = open_record(operation, site, start);
  if (!record) return;
  record->phase = 0;
  record->flags = MK_RECORD_NO_PHASE;
  mk_lock();
  mk_end(record);
}

/* MPI_Finalize is the last record: the compute phase before it counts. Its own duration is not known, because the file
 * is written before the real MPI_Finalize (after it, a launcher may end the process at any time). */
void mk_stop_recording(void* site, int operation) {
  struct mk_record* record = mk_begin(operation, site);
  if (record) {
    mk_lock();
    mk_end(record);
  }
  mk_end_turns();
  mk_node_leave();
  mk_state.recording = false;
}
