/* Requests: where the data of a completed one goes. The proxy knows the same requests by the same numbers. */
#include <string.h>

#include "shim.h"

static struct mb_table requests = {.slot_bytes = sizeof(struct mb_request_slot)};

static bool is_free(const void* slot) { return !((const struct mb_request_slot*)slot)->used; }

struct mb_request_slot* mb_request_of(MPI_Request request) {
  struct mb_request_slot* slot = mb_slot(&requests, request - 1);
  return slot && slot->used ? slot : NULL;
}

MPI_Request mb_new_request(const struct mb_buffer* send, const struct mb_buffer* receive, bool persistent) {
  const int number = mb_new_slot(&requests, is_free);
  struct mb_request_slot* slot = mb_slot(&requests, number);
  *slot = (struct mb_request_slot){.used = true, .persistent = persistent, .active = !persistent};
  if (send) slot->send = *send;
  if (receive) slot->receive = *receive;
  mb_hold(&slot->send);
  mb_hold(&slot->receive);
  return number + 1;
}

void mb_drop_request(MPI_Request request) {
  struct mb_request_slot* slot = mb_request_of(request);
  if (!slot) return;
  mb_release(&slot->send);
  mb_release(&slot->receive);
  slot->used = false;
}

void mb_set_status(MPI_Status* status, int64_t source, int64_t tag, int64_t error, int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = (int)source;
  status->MPI_TAG = (int)tag;
  status->MPI_ERROR = (int)error;
  status->mb_bytes = bytes;
}

static void set_empty(MPI_Status* status) { mb_set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0); }

/* Payload of the reply -> the application's memory; with `flush` injected, out of the core's caches again. */
void mb_take_received(const struct mb_buffer* receive, uint64_t bytes, bool external) {
  mb_get_buffer(receive, bytes);
  if (mb_guest.inject == MB_INJECT_FLUSH && external) mb_flush_lines(receive, bytes);
}

static bool is_known(const char* name, int count, const MPI_Request* handles) {
  for (int i = 0; i < count; i++)
    if (handles[i] != MPI_REQUEST_NULL && !mb_request_of(handles[i])) {
      mb_wrong(name, MPI_ERR_REQUEST, "no such request (%d)", handles[i]);
      return false;
    }
  return true;
}

static void ask(struct mb_call* call, int count, const MPI_Request* handles) {
  int64_t* list = mb_list_room(0, count);
  for (int i = 0; i < count; i++) list[i] = handles[i];
  mb_request(call, list, count, NULL);
  mb_reply(call);
}

/* Takes one completed request of the reply; `status` may be ignored. */
static void take(const int64_t* done, MPI_Request* handle, MPI_Status* status) {
  struct mb_request_slot* slot = mb_request_of(*handle);
  mb_take_received(&slot->receive, (uint64_t)done[MB_DONE_PAYLOAD], done[MB_DONE_EXTERNAL]);
  mb_set_status(status, done[MB_DONE_SOURCE], done[MB_DONE_TAG], done[MB_DONE_ERROR], done[MB_DONE_BYTES]);
  if (slot->persistent) {
    slot->active = false;
    return;
  }
  mb_drop_request(*handle);
  *handle = MPI_REQUEST_NULL;
}

/* `statuses` are those of the array of requests, or, `packed`, of the completed ones in turn. Returns their number. */
static int take_all(const struct mb_call* call, MPI_Request* handles, MPI_Status* statuses, int* indices, bool packed) {
  const int completed = (int)(call->reply.list_count / MB_DONE_WORDS);
  for (int i = 0; i < completed; i++) {
    const int64_t* done = call->list + i * MB_DONE_WORDS;
    const int index = (int)done[MB_DONE_INDEX];
    if (indices) indices[i] = index;
    take(done, &handles[index], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[packed ? i : index]);
  }
  return completed;
}

#define WAITING(name, count, handles)                                  \
  MB_ENTER(name);                                                      \
  if (!is_known("MPI_" #name, count, handles)) return MPI_ERR_REQUEST; \
  ask(&call, count, handles)

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  WAITING(Wait, 1, request);
  if (take_all(&call, request, status, NULL, true) == 0) set_empty(status);
  return mb_leave(&call);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  WAITING(Test, 1, request);
  *flag = (int)call.reply.word[MB_R_FLAG];
  if (take_all(&call, request, status, NULL, true) == 0) set_empty(status);
  return mb_leave(&call);
}

int MPI_Waitall(int count, MPI_Request requests_[], MPI_Status statuses[]) {
  WAITING(Waitall, count, requests_);
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++) set_empty(&statuses[i]);
  take_all(&call, requests_, statuses, NULL, false);
  return mb_leave(&call);
}

int MPI_Testall(int count, MPI_Request requests_[], int* flag, MPI_Status statuses[]) {
  WAITING(Testall, count, requests_);
  *flag = (int)call.reply.word[MB_R_FLAG];
  for (int i = 0; i < count && *flag && statuses != MPI_STATUSES_IGNORE; i++) set_empty(&statuses[i]);
  take_all(&call, requests_, statuses, NULL, false);
  return mb_leave(&call);
}

int MPI_Waitany(int count, MPI_Request requests_[], int* index, MPI_Status* status) {
  WAITING(Waitany, count, requests_);
  *index = (int)call.reply.word[MB_R_INDEX];
  if (take_all(&call, requests_, status, NULL, true) == 0) set_empty(status);
  return mb_leave(&call);
}

int MPI_Testany(int count, MPI_Request requests_[], int* index, int* flag, MPI_Status* status) {
  WAITING(Testany, count, requests_);
  *index = (int)call.reply.word[MB_R_INDEX];
  *flag = (int)call.reply.word[MB_R_FLAG];
  if (take_all(&call, requests_, status, NULL, true) == 0) set_empty(status);
  return mb_leave(&call);
}

int MPI_Waitsome(int incount, MPI_Request requests_[], int* outcount, int indices[], MPI_Status statuses[]) {
  WAITING(Waitsome, incount, requests_);
  take_all(&call, requests_, statuses, indices, true);
  *outcount = (int)call.reply.word[MB_R_INDEX];
  return mb_leave(&call);
}

int MPI_Testsome(int incount, MPI_Request requests_[], int* outcount, int indices[], MPI_Status statuses[]) {
  WAITING(Testsome, incount, requests_);
  take_all(&call, requests_, statuses, indices, true);
  *outcount = (int)call.reply.word[MB_R_INDEX];
  return mb_leave(&call);
}

int MPI_Request_free(MPI_Request* request) {
  WAITING(Request_free, 1, request);
  mb_drop_request(*request);
  *request = MPI_REQUEST_NULL;
  return mb_leave(&call);
}

/* The data of all started sends travels in turn. */
static int start(struct mb_call* call, int count, MPI_Request* handles) {
  const char* name = mb_call_names[call->request.call];
  if (!is_known(name, count, handles)) return MPI_ERR_REQUEST;
  int64_t* list = mb_list_room(0, count);
  uint64_t bytes = 0;
  for (int i = 0; i < count; i++) {
    const struct mb_request_slot* slot = mb_request_of(handles[i]);
    if (!slot || !slot->persistent || slot->active)
      return mb_wrong(name, MPI_ERR_REQUEST, "request %d is not an inactive persistent one", handles[i]);
    list[i] = handles[i];
    bytes += mb_bytes(&slot->send);
  }
  call->request.list_count = (uint64_t)count;
  call->request.payload_bytes = bytes;
  mb_take_notes(&call->request);
  mb_put(&call->request, sizeof call->request);
  mb_put(mb_notes(), call->request.notes_bytes);
  mb_put(list, (size_t)count * sizeof *list);
  for (int i = 0; i < count; i++) {
    struct mb_request_slot* slot = mb_request_of(handles[i]);
    mb_put_buffer(&slot->send);
    slot->active = true;
  }
  mb_flush();
  mb_reply(call);
  return mb_leave(call);
}

int MPI_Start(MPI_Request* request) {
  MB_ENTER(Start);
  return start(&call, 1, request);
}

int MPI_Startall(int count, MPI_Request requests_[]) {
  MB_ENTER(Startall);
  return start(&call, count, requests_);
}
