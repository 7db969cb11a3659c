/* Requests and replies, and the names of compute phases, which travel with the next request. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shim.h"

#define X(name) [MB_##name] = "MPI_" #name,
const char* const mb_call_names[MB_CALLS] = {MB_RECORDED_CALLS(X) MB_UNRECORDED_CALLS(X)};
#undef X

static char notes[MB_PIECE];
static size_t notes_bytes;

void mb_open(struct mb_call* call, int number, uint64_t entry_ns, const void* site) {
  if (!mb_guest.initialized || mb_guest.finalized)
    mb_fatal(mb_call_names[number], "called %s", mb_guest.finalized ? "after MPI_Finalize" : "before MPI_Init");
  call->request = (struct mb_header){
      .magic = MB_MAGIC,
      .call = (uint16_t)number,
      .entry_ns = entry_ns,
      .exit_ns = mb_guest.exit_ns,
      .site = (uint64_t)(uintptr_t)site,
  };
  mb_guest.send = mb_guest.receive = (struct mb_buffer){0};
}

/* The names given since the last request go with this one; their text is in mb_notes() until the next name is given. */
void mb_take_notes(struct mb_header* request) {
  request->notes_bytes = (uint16_t)notes_bytes;
  notes_bytes = 0;
}

const char* mb_notes(void) { return notes; }

void mb_request(struct mb_call* call, const int64_t* list, int64_t list_count, const struct mb_buffer* data) {
  mb_take_notes(&call->request);
  call->request.list_count = (uint64_t)list_count;
  call->request.payload_bytes = data ? mb_bytes(data) : 0;
  if (data) mb_guest.send = *data;
  mb_put(&call->request, sizeof call->request);
  mb_put(mb_notes(), call->request.notes_bytes);
  mb_put(list, (size_t)list_count * sizeof *list);
  if (data) mb_put_buffer(data);
  mb_flush();
}

void mb_reply(struct mb_call* call) {
  mb_get(&call->reply, sizeof call->reply);
  if (call->reply.magic != MB_MAGIC || call->reply.call != call->request.call)
    mb_fatal(mb_call_names[call->request.call],
             "the proxy answered something else; guest and proxy are of two versions");
  call->list = mb_list_room(1, (int64_t)call->reply.list_count);
  mb_get(call->list, call->reply.list_count * sizeof *call->list);
}

/* Between these two nothing belongs to the compute phase, in time and in counts. */
static inline uint64_t pause_phase(void) {
  const uint64_t start = mb_clock_ns();
  mb_mark_end(MB_MARK_PAUSE);
  return start;
}

static inline void resume_phase(uint64_t start) {
  mb_mark_begin(MB_MARK_PAUSE);
  mb_guest.away_ns += mb_clock_ns() - start;
}

void mb_ask(struct mb_call* call, const int64_t* list, int64_t list_count) {
  const uint64_t start = pause_phase();
  mb_request(call, list, list_count, NULL);
  mb_reply(call);
  resume_phase(start);
}

/* MPI_Pcontrol is variadic and other tools define it otherwise: a name is only read where the program has memory. */
static bool is_in_program(const char* text) {
  extern const char __executable_start[], _end[];
  const char here = 0;
  const uintptr_t at = (uintptr_t)text, stack = (uintptr_t)&here;
  return (at >= (uintptr_t)__executable_start && at < (uintptr_t)_end) || (at > stack && at - stack < 65536);
}

int MPI_Pcontrol(const int level, ...) {
  const char* text = "";
  if (level == 1 || level == -1) {
    va_list arguments;
    va_start(arguments, level);
    text = va_arg(arguments, const char*);
    va_end(arguments);
    if (!text || !is_in_program(text)) return MPI_SUCCESS;
  } else if (level != 0) {
    return MPI_SUCCESS;
  }
  if (!mb_guest.initialized || mb_guest.finalized) return MPI_SUCCESS;
  const size_t length = strnlen(text, 201);
  if (length > 200) return MPI_SUCCESS;
  if (notes_bytes + length + 4 > sizeof notes) { /* so many names between two calls: hand them over */
    struct mb_call call;
    mb_open(&call, MB_notes, mb_now(), MB_SITE);
    mb_ask(&call, NULL, 0);
  }
  /* To write the note down is no part of the compute phase: a thousand instructions would be. */
  const uint64_t start = pause_phase();
  notes_bytes += (size_t)snprintf(notes + notes_bytes, sizeof notes - notes_bytes, "%d %s", level, text) + 1;
  resume_phase(start);
  return MPI_SUCCESS;
}
