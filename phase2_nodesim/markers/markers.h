/* Shared by the parts of the markers library. The steps of one MPI call:
 *
 *   record = mk_begin(operation, call site)   ends the compute phase: counters, time, label
 *   the real MPI call (polite or not)
 *   record->peer = ...                        only if the call succeeded
 *   mk_end(record)                            starts the next compute phase
 *
 * mk_begin returns NULL if nothing is recorded: recording is off, the cap is reached, or the call comes from inside the
 * MPI library. The library takes its memory from mmap and never from malloc: the application's heap, and with it the
 * addresses in a cache simulation, are the same with and without it. */
#ifndef MANYNODE_MARKERS_H
#define MANYNODE_MARKERS_H

#include "mpi_compat.h"

#include "../qemu/marks.h"
#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "generated_real.h" /* enum mk_operation, struct mk_real_functions mk_real, mk_operation_names[] */

/* hidden from the application and the MPI library */
#pragma GCC visibility push(hidden)

enum mk_counter_mode { MK_COUNTERS_TIME, MK_COUNTERS_PERF, MK_COUNTERS_CALLGRIND, MK_COUNTERS_NODE };

struct mk_state {
  bool recording;
  bool on_valgrind;
  bool multiple; /* MPI_THREAD_MULTIPLE: take the lock */
  bool truncated;
  bool written;
  int sweep;  /* under callgrind: 1 the same first-level caches after every MPI call, 2 the same branch predictor too */
  int polite; /* 0 no, 1 wait politely and lower the priority, 2 only wait politely */
  enum mk_counter_mode counter_mode;
  int rank, world_size, node, ranks_per_node, thread_level; /* node -1, ranks_per_node 0: not known */
  uint64_t max_records;
  uint64_t start; /* of MPI_Init, as the clock says it */
  char directory[3072];
  char library_version[256];
};
extern struct mk_state mk_state;
extern __thread int mk_depth __attribute__((tls_model("initial-exec")));
extern __thread void* mk_fortran_site __attribute__((tls_model("initial-exec")));

/* recorder.c */
struct mk_record* mk_begin(int operation, void* site);
void mk_refill(struct mk_record* record, int result);
void mk_end(struct mk_record* record);
void mk_start_recording(uint64_t start, void* site, int operation);
void mk_stop_recording(void* site, int operation);

/* guest.c: the calls are those of a guest, which gives their times and call sites */
struct mk_guest {
  bool on, announced;
  uint32_t program; /* string */
  uint64_t entry_ns, site;
};
extern struct mk_guest mk_guest;

/* clock.c: the cheapest reliable clock; its unit is arbitrary until mk_clock_stop has been called */
void mk_clock_start(void);
uint64_t mk_now(void);
void mk_clock_stop(void);
uint64_t mk_to_ns(uint64_t now);
const char* mk_clock_name(void);

/* modules.c: the library of an address */
void mk_learn_modules(void);
bool mk_inside_mpi(const void* address);
bool mk_inside_fortran(const void* address);
void mk_resolve(void);
void* mk_find_symbol(const char* name);

/* arena.c: memory that never moves */
void* mk_allocate(size_t bytes);
struct mk_record* mk_new_record(uint64_t* number);
struct mk_record* mk_record_at(uint64_t number);
void mk_drop_last_record(void);
uint64_t mk_record_slots(void);
void mk_set_record_bytes(size_t bytes);
uint32_t mk_intern(const char* text);
const char* mk_strings(uint64_t* bytes);
uint32_t mk_site_number(void* address);
const struct mk_call_site* mk_sites(uint32_t* count);

/* details.c: the words of a record's detail are put one after the other, under the lock; mk_end takes them */
void mk_put(int64_t word);
void mk_put_counts_int(const int* counts, MPI_Datatype datatype, int n);
void mk_put_counts_count(const MPI_Count* counts, MPI_Datatype datatype, int n);
void mk_put_typed_int(const int* counts, const MPI_Datatype* types, int n);
void mk_put_typed_count(const MPI_Count* counts, const MPI_Datatype* types, int n);
#define mk_put_counts(counts, datatype, n) \
  _Generic((counts), const int*: mk_put_counts_int, const MPI_Count*: mk_put_counts_count)(counts, datatype, n)
#define mk_put_typed(counts, types, n) \
  _Generic((counts), const int*: mk_put_typed_int, const MPI_Count*: mk_put_typed_count)(counts, types, n)
uint32_t mk_take_detail(void);
const int64_t* mk_details(uint32_t* words);

/* phases.c */
uint32_t mk_take_phase(uint16_t* flags);

/* counters.c */
void mk_counters_open(void);
extern int mk_counter_count;
extern const char* mk_counter_names[MK_MAX_COUNTERS];
extern char mk_counter_notes[1024];
void mk_counters_stop(uint64_t* phase_counts); /* events of the compute phase that ends here */
void mk_counters_start(void);
void mk_note_counter(const char* name, const char* reason);

/* waiting.c: how long the rank was runnable but did not run in a phase */
void mk_waiting_before_init(void);
bool mk_waiting_open(int counter);
void mk_waiting_start(void);
void mk_waiting_stop(uint64_t* phase_counts);

/* callgrind.c */
bool mk_on_valgrind(void);
bool mk_callgrind_built(void);
void mk_callgrind_prepare(uint64_t sequence);
void mk_callgrind_dump(void);
void mk_callgrind_zero(void);

/* node.c: under the engine qemu */
bool mk_node_open(void);
int mk_node_counters(const char** names);
void mk_node_stop(int operation, uint64_t* counts);
static inline void mk_node_start(void) { MN_MARK(MN_MARK_START); }
void mk_node_look(void);
bool mk_node_in_vain(void); /* false: not under this engine, sleep in some other way */
void mk_node_leave(void);
extern bool mk_node_injects; /* the data of messages to and from other nodes is named to the plugin */
void mk_node_message(const void* buffer, uint64_t bytes, bool received);

/* injection.c: the data that calls move between this rank and those of other nodes; only while mk_node_injects */
bool mk_node_outside(int peer);
void mk_node_sent(int peer, const void* buffer, uint64_t bytes);
void mk_node_received(int peer, const void* buffer, uint64_t bytes);
void mk_node_own(MPI_Comm comm, const void* buffer, uint64_t bytes, bool received);
void mk_node_blocks(MPI_Comm comm, const void* buffer, uint64_t bytes, bool received); /* one for each member */

/* sweep.c */
void mk_sweep(void);

/* communicators.c */
int mk_communicator(MPI_Comm comm);
void mk_new_communicator(MPI_Comm comm, MPI_Comm pending_copy_of);
void mk_forget_communicator(MPI_Comm comm);
int mk_peer(MPI_Comm comm, int rank);
int mk_peer_of_root(MPI_Comm comm, int root);
int mk_members(MPI_Comm comm);
int mk_own_rank(MPI_Comm comm);
bool mk_is_root(MPI_Comm comm, int root);
int mk_neighbors(MPI_Comm comm, bool outgoing);
void mk_put_members(MPI_Comm comm); /* size, how many are listed, these */
int mk_win_peer(MPI_Win win, int rank);
/* The ranks of a group of `size` in MPI_COMM_WORLD, MK_UNKNOWN outside of it; NULL without memory. */
int* mk_world_ranks(MPI_Group group, int size);
void mk_free_world_ranks(int* ranks, int size);

/* windows.c */
int mk_window(MPI_Win win);
void mk_new_window(MPI_Win win, MPI_Comm comm);
void mk_forget_window(MPI_Win win);
void mk_put_group(MPI_Group group); /* size, members */

/* requests.c: every request until it completes */
struct mk_request_note {
  uintptr_t handle;         /* 0: free slot */
  const MPI_Request* place; /* the variable to which the call that made the request wrote it */
  int number;
  bool persistent;
  bool active;   /* of a persistent one: started and not completed */
  bool received; /* else sent */
  bool awaited;  /* its status is of interest */
  int peer, tag, communicator;
  MPI_Comm comm;
  uint64_t bytes;
  void* buffer;             /* of a message that may cross the node's border; under the engine qemu only */
  struct mk_record* record; /* waits for the source that the status names */
  struct mk_record* cancel; /* MPI_Cancel of it; the status says whether it came in time */
};
extern int mk_awaited; /* notes whose status is of interest */
void mk_note_made(const MPI_Request* request, struct mk_record* record);
void mk_note_receive(const MPI_Request* request, struct mk_record* record, MPI_Comm comm,
                     void* buffer);                                                       /* from any source */
void mk_note_arrival(const MPI_Request* request, int peer, void* buffer, uint64_t bytes); /* from another node */
void mk_note_persistent(const MPI_Request* request, const struct mk_record* record, MPI_Comm comm, void* buffer,
                        bool received);
void mk_note_started(const MPI_Request* request, struct mk_record* start);
void mk_note_completed(uintptr_t handle, const MPI_Request* place, const MPI_Status* status);
void mk_note_freed(uintptr_t handle, const MPI_Request* place, const MPI_Status* status); /* NULL: not complete */
bool mk_note_cancelled(const MPI_Request* request, struct mk_record* cancel);             /* false: it is no receive */

/* polite.c: tests and short sleeps in place of busy waiting */
void mk_polite_init(void);
int mk_polite_wait(MPI_Request* request, MPI_Status* status);
int mk_polite_waitall(int count, MPI_Request* requests, MPI_Status* statuses);
int mk_polite_waitany(int count, MPI_Request* requests, int* index, MPI_Status* status);
int mk_polite_waitsome(int count, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses);
int mk_polite_probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int mk_polite_mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status);

/* polite_calls.c, and mk_polite_<name> of the calls that prototypes.txt calls polite-hand */
bool mk_polite_meets_before(MPI_Op op); /* whether a reduction is the call itself, after everybody has come */
int mk_polite_meet(MPI_Comm comm);
#define MK_AFTER_MEETING(comm, name, ...)                 \
  ({                                                      \
    const int met = mk_polite_meet(comm);                 \
    met == MPI_SUCCESS ? mk_real.name(__VA_ARGS__) : met; \
  })
/* a non-blocking collective and its wait */
#define MK_POLITELY(name, ...)                                                  \
  ({                                                                            \
    MPI_Request request = MPI_REQUEST_NULL;                                     \
    const int begun = mk_real.name(__VA_ARGS__, &request);                      \
    begun == MPI_SUCCESS ? mk_polite_wait(&request, MPI_STATUS_IGNORE) : begun; \
  })

/* turns.c: nodes of a job that share a host compute one after the other */
void mk_turns_init(void);
bool mk_takes_turns(void);
void mk_take_turn(void);
void mk_await_quiet(void); /* until no rank of another node computes */
void mk_leave_turn(void);
void mk_end_turns(void);

/* writer.c */
void mk_write(uint32_t flags);

/* prefix.c */
void mk_check_prefix(void); /* ends a program that should run behind an engine's words and does not */

/* unfollowed.c: what the program does and the markers do not follow; both texts live as long as the program */
void mk_not_followed(const char* what, const char* why);
void mk_not_followed_call(const char* what, const char* why, const void* site); /* unless MPI itself calls */
void mk_look_for_other_tools(void);

/* ending.c */
void mk_watch_endings(void);

/* sizes.c */
uint64_t mk_type_bytes(MPI_Datatype datatype);
static inline uint64_t mk_bytes(MPI_Count count, MPI_Datatype datatype) {
  return count <= 0 ? 0 : (uint64_t)count * mk_type_bytes(datatype);
}
uint64_t mk_sum_int(const int* counts, MPI_Datatype datatype, int n);
uint64_t mk_sum_count(const MPI_Count* counts, MPI_Datatype datatype, int n);
uint64_t mk_sum_types_int(const int* counts, const MPI_Datatype* types, int n);
uint64_t mk_sum_types_count(const MPI_Count* counts, const MPI_Datatype* types, int n);
#define mk_sum(counts, datatype, n) \
  _Generic((counts), const int*: mk_sum_int, const MPI_Count*: mk_sum_count)(counts, datatype, n)
#define mk_sum_types(counts, types, n) \
  _Generic((counts), const int*: mk_sum_types_int, const MPI_Count*: mk_sum_types_count)(counts, types, n)
/* the block that this rank contributes; with MPI_IN_PLACE it lies in the receive buffer */
#define mk_block(sendbuf, sendcount, sendtype, recvcount, recvtype) \
  ((sendbuf) == MPI_IN_PLACE ? mk_bytes(recvcount, recvtype) : mk_bytes(sendcount, sendtype))
#define mk_own_block(sendbuf, sendcount, sendtype, recvcounts, recvtype, comm) \
  ((sendbuf) == MPI_IN_PLACE ? mk_bytes((recvcounts)[mk_own_rank(comm)], recvtype) : mk_bytes(sendcount, sendtype))

void mk_lock(void);
void mk_unlock(void);

#pragma GCC visibility pop
#endif
