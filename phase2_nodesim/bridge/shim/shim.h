/* Shared by the parts of the shim. The steps of one MPI call of the guest:
 *
 *   MB_ENTER(name)              the moment of entry, before anything else
 *   mb_request(&call, ...)      the request goes to the proxy
 *   mb_reply(&call)             the guest waits; the reply is in call.reply, its list in call.list
 *   mb_get_buffer(...)          its payload goes to the application's buffer
 *   return mb_leave(&call)      the moment of exit, after everything else
 *
 * Memory comes from mmap and never from malloc: the application's heap is the same as without the shim. */
#ifndef MANYNODE_BRIDGE_SHIM_H
#define MANYNODE_BRIDGE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "../include/mpi.h"
#include "../wire.h"
#include "arch.h"

/* A datatype: `count` blocks of `blocklength` items of `child`, `stride` bytes apart; basic ones have no child. */
struct mb_type {
  int references; /* 0: free slot */
  int basic;
  bool contiguous;  /* an item is one piece of memory, and items follow each other without gap */
  int64_t elements; /* basic elements of an item */
  int64_t extent;
  int64_t count, blocklength, stride;
  struct mb_type* child;
};

/* Data of the application: `count` items at `at`, or, with `counts`, `blocks` of them with displacements in items. */
struct mb_buffer {
  char* at;
  struct mb_type* type; /* NULL: no data */
  int64_t count;
  const int *counts, *displs;
  int blocks;
};

struct mb_comm {
  int size; /* 0: free slot */
  int rank;
  int* world_ranks;
  int ndims; /* -1: no Cartesian topology */
  int *dims, *periods;
};

struct mb_request_slot {
  bool used, persistent, active;
  struct mb_buffer send, receive;
};

struct mb_guest {
  bool host_clock, initialized, finalized, errors_return;
  int rank, size, thread_level;
  int request_fd, reply_fd;
  enum mb_inject inject;
  uint64_t exit_ns;               /* of the last recorded call */
  uint64_t away_ns;               /* spent in requests that are not recorded: taken out of the clock */
  uint64_t rested_ns;             /* slept without a simulation: in all clocks */
  struct mb_buffer send, receive; /* of the call under way, for the helper thread */
  char processor_name[MPI_MAX_PROCESSOR_NAME];
  char library_version[MPI_MAX_LIBRARY_VERSION_STRING];
};
extern struct mb_guest mb_guest;
extern const char* const mb_call_names[MB_CALLS];

struct mb_call {
  struct mb_header request, reply;
  int64_t* list; /* of the reply */
};

static inline uint64_t mb_clock_ns(void) {
  if (__builtin_expect(!mb_guest.host_clock, 1)) return mb_arch_simulated_ns();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The simulator's statistics between a compute phase's two marks belong to that phase. A pause does not end a phase.
 * The marks lie outside the measured time: a phase is marked as ended after its time was taken, and as begun before. */
static inline void mb_mark_begin(enum mb_mark mark) {
  if (__builtin_expect(!mb_guest.host_clock, 1)) mb_arch_mark_begin(MB_MARK_KINDS * (uint64_t)mb_guest.rank + mark);
}

static inline void mb_mark_end(enum mb_mark mark) {
  if (__builtin_expect(!mb_guest.host_clock, 1)) mb_arch_mark_end(MB_MARK_KINDS * (uint64_t)mb_guest.rank + mark);
}

static inline uint64_t mb_now(void) { return mb_clock_ns() - mb_guest.away_ns; }

#define MB_SITE __builtin_return_address(0)
#define MB_ENTER(name)                \
  const uint64_t entry_ns = mb_now(); \
  mb_mark_end(MB_MARK_CALL);          \
  struct mb_call call;                \
  mb_open(&call, MB_##name, entry_ns, MB_SITE)

/* calls.c */
void mb_open(struct mb_call* call, int number, uint64_t entry_ns, const void* site);
void mb_request(struct mb_call* call, const int64_t* list, int64_t list_count, const struct mb_buffer* data);
void mb_reply(struct mb_call* call);
static inline int mb_leave(const struct mb_call* call) {
  const int result = (int)call->reply.word[MB_R_RESULT];
  mb_mark_begin(MB_MARK_CALL);
  mb_guest.exit_ns = mb_now();
  return result;
}
/* An unrecorded request and its reply; their time is subtracted from the clock. */
void mb_ask(struct mb_call* call, const int64_t* list, int64_t list_count);
void mb_take_notes(struct mb_header* request);
const char* mb_notes(void);

/* channel.c */
long mb_open_file(const char* path, int flags);
void mb_put(const void* data, size_t bytes);
void mb_flush(void);
void mb_get(void* data, size_t bytes);

/* failure.c */
/* one line on stderr, which explains a failed job */
void mb_say(const char* call, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* these do not return */
_Noreturn void mb_fatal(const char* call, const char* format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void mb_gone(void);
_Noreturn void mb_end(int code); /* of this guest, and of the whole simulation */
/* an invalid argument: returns `error` if MPI_ERRORS_RETURN is set */
int mb_wrong(const char* call, int error, const char* format, ...) __attribute__((format(printf, 3, 4)));

/* memory.c */
void* mb_allocate(size_t bytes);
int64_t* mb_list_room(int which, int64_t count); /* 0 for requests, 1 for replies; the content is lost when it grows */
/* the number of a free slot of a growing table, or of a new one without `is_free`; slots never move */
struct mb_table {
  size_t slot_bytes;
  void* chunks[256];
  int used;
};
void* mb_slot(struct mb_table* table, int number); /* NULL: never used */
int mb_new_slot(struct mb_table* table, bool (*is_free)(const void* slot));

/* buffers.c */
typedef bool (*mb_visit)(void* context, char* at, size_t bytes); /* false: enough */
void mb_walk(const struct mb_buffer* buffer, mb_visit visit, void* context);
int64_t mb_elements(const struct mb_buffer* buffer);
uint64_t mb_bytes(const struct mb_buffer* buffer);
void mb_put_buffer(const struct mb_buffer* buffer);
void mb_get_buffer(const struct mb_buffer* buffer, uint64_t bytes);

/* types.c */
struct mb_type* mb_type_of(MPI_Datatype datatype);
int64_t mb_basic_size(int basic);
int64_t mb_basic_span(int basic);
/* false and a message if the arguments are invalid */
bool mb_buffer_of(struct mb_buffer* buffer, const char* call, const void* at, int64_t count, MPI_Datatype datatype);
void mb_hold(const struct mb_buffer* buffer);
void mb_release(const struct mb_buffer* buffer);

/* communicators.c */
struct mb_comm* mb_comm_of(MPI_Comm comm);
void mb_make_first_comms(void);

/* requests.c */
struct mb_request_slot* mb_request_of(MPI_Request request);
MPI_Request mb_new_request(const struct mb_buffer* send, const struct mb_buffer* receive, bool persistent);
void mb_drop_request(MPI_Request request);
void mb_set_status(MPI_Status* status, int64_t source, int64_t tag, int64_t error, int64_t bytes);
void mb_take_received(const struct mb_buffer* receive, uint64_t bytes, bool external);

/* helper.c */
void mb_start_helper(const char* directory);
void mb_flush_lines(const struct mb_buffer* buffer, uint64_t bytes);

/* sleeping.c: linked always, so that no library call finds the C library's own */
void mb_link_sleeping(void);

#endif
