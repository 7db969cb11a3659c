/* Requests until they complete: their numbers, and what is not known before they complete. A receive from any source
 * gets the real source from the completion's status, a start the peer, bytes and tag of its persistent request, and
 * under the engine qemu the data of a receive arrives.
 *
 * Several requests may have one handle (MPICH gives all sends that are complete at once the same). Then the variable
 * that holds the handle tells them apart, as long as the program has not copied it; else the oldest is taken. */
#include "wrapping.h"

enum { TABLE = 1 << 16, NULL_OR_INACTIVE = 0 };
static struct mk_request_note* table;
static int notes, made;
int mk_awaited;

static unsigned home_of(uintptr_t handle) {
  return (unsigned)(((uint64_t)handle * 0x9e3779b97f4a7c15u) >> 40) & (TABLE - 1);
}

static struct mk_request_note* find(uintptr_t handle, const MPI_Request* place) {
  struct mk_request_note *oldest = NULL, *placed = NULL;
  if (!notes || !handle) return NULL;
  for (unsigned i = home_of(handle); table[i].handle; i = (i + 1) & (TABLE - 1)) {
    struct mk_request_note* note = &table[i];
    if (note->handle != handle) continue;
    if (note->place == place && (!placed || note->number > placed->number)) placed = note;
    if (!oldest || note->number < oldest->number) oldest = note;
  }
  return placed ? placed : oldest;
}

static void await(struct mk_request_note* note) {
  if (!note->awaited) mk_awaited++;
  note->awaited = true;
}

static void await_no_more(struct mk_request_note* note) {
  if (note->awaited) mk_awaited--;
  note->awaited = false;
  note->record = NULL;
}

/* Moves later notes of the probe chain up, so that no search ends too early. */
static void erase(struct mk_request_note* note) {
  unsigned hole = (unsigned)(note - table);
  notes--;
  for (unsigned i = (hole + 1) & (TABLE - 1); table[i].handle; i = (i + 1) & (TABLE - 1)) {
    const unsigned distance = (i - home_of(table[i].handle)) & (TABLE - 1);
    if (distance < ((i - hole) & (TABLE - 1))) continue; /* the hole lies before its home */
    table[hole] = table[i];
    hole = i;
  }
  table[hole].handle = 0;
}

void mk_note_made(const MPI_Request* request, struct mk_record* record) {
  record->request = made++;
  const uintptr_t handle = MK_HANDLE(*request);
  if (!table && !(table = mk_allocate(TABLE * sizeof *table))) return;
  if (notes >= TABLE / 2 || !handle) return; /* its completion will be that of an unknown request */
  unsigned i = home_of(handle);
  while (table[i].handle) i = (i + 1) & (TABLE - 1);
  table[i] = (struct mk_request_note){
      .handle = handle, .place = request, .number = record->request, .peer = MK_NONE, .tag = MK_NONE};
  table[i].received = record->operation == MK_OP_Irecv || record->operation == MK_OP_Imrecv;
  notes++;
}

void mk_note_receive(const MPI_Request* request, struct mk_record* record, MPI_Comm comm, void* buffer) {
  struct mk_request_note* note = find(MK_HANDLE(*request), request);
  if (record->peer == MK_ANY) record->flags |= MK_RECORD_ANY_SOURCE;
  if (record->tag == MPI_ANY_TAG) record->flags |= MK_RECORD_ANY_TAG;
  if (!note) return;
  note->record = record;
  note->comm = comm;
  note->bytes = record->bytes;
  note->buffer = mk_node_injects ? buffer : NULL;
  await(note);
}

void mk_note_arrival(const MPI_Request* request, int peer, void* buffer, uint64_t bytes) {
  struct mk_request_note* note = mk_node_outside(peer) ? find(MK_HANDLE(*request), request) : NULL;
  if (!note) return;
  note->peer = peer;
  note->bytes = bytes;
  note->buffer = buffer;
  note->received = true;
  await(note);
}

void mk_note_persistent(const MPI_Request* request, const struct mk_record* record, MPI_Comm comm, void* buffer,
                        bool received) {
  struct mk_request_note* note = find(MK_HANDLE(*request), request);
  if (!note) return;
  note->comm = comm;
  note->bytes = record->bytes;
  note->peer = record->peer;
  note->tag = record->tag;
  note->communicator = record->communicator;
  note->persistent = true;
  note->buffer = mk_node_injects ? buffer : NULL;
  note->received = received;
}

/* MPI_Start and MPI_Startall: the sums and, where it is one request, its peer. */
void mk_note_started(const MPI_Request* request, struct mk_record* start) {
  struct mk_request_note* note = find(MK_HANDLE(*request), request);
  mk_put(note && note->persistent ? made - note->number : MK_UNKNOWN);
  if (!note || !note->persistent) return;
  note->active = true;
  start->bytes += note->bytes;
  if (start->requests == 1) {
    start->peer = note->peer;
    start->tag = note->tag;
    start->communicator = note->communicator;
  }
  if ((note->peer == MK_ANY || (note->received && note->tag == MPI_ANY_TAG)) && !note->record) note->record = start;
  if (note->buffer && !note->received) mk_node_sent(note->peer, note->buffer, note->bytes);
  if (note->record || (note->buffer && note->received)) await(note);
}

bool mk_note_cancelled(const MPI_Request* request, struct mk_record* cancel) {
  struct mk_request_note* note = find(MK_HANDLE(*request), request);
  if (!note || !note->received) return false;
  if (note->cancel) return true; /* a second time */
  mk_put(made - note->number);
  note->cancel = cancel;
  await(note);
  return true;
}

/* Without a status, or if it came too late, MPI_Cancel has cancelled nothing. */
static bool was_cancelled(struct mk_request_note* note, const MPI_Status* status) {
  int cancelled = 0;
  if (!note->cancel) return false;
  if (status) mk_real.Test_cancelled(status, &cancelled);
  if (!cancelled) note->cancel->detail = 0;
  note->cancel = NULL;
  return cancelled;
}

/* Puts the request into the call's detail. A status is read only of awaited requests. */
void mk_note_completed(uintptr_t handle, const MPI_Request* place, const MPI_Status* status) {
  struct mk_request_note* note = find(handle, place);
  if (!note) {
    mk_put(handle == MK_HANDLE(MPI_REQUEST_NULL) ? NULL_OR_INACTIVE : MK_UNKNOWN);
    return;
  }
  const bool cancelled = was_cancelled(note, status);
  mk_put(cancelled || (note->persistent && !note->active) ? NULL_OR_INACTIVE : made - note->number);
  if (note->awaited && !cancelled) {
    int source = note->peer;
    if (note->record) {
      source = mk_peer(note->comm, status->MPI_SOURCE);
      const bool one = !note->persistent || note->record->requests == 1;
      if (one && source >= 0) {
        if (note->record->peer == MK_ANY) note->record->flags |= MK_RECORD_ANY_SOURCE;
        if (note->record->tag == MPI_ANY_TAG) note->record->flags |= MK_RECORD_ANY_TAG;
        note->record->peer = source;
        note->record->tag = status->MPI_TAG;
      }
    }
    if (note->buffer && note->received) mk_node_received(source, note->buffer, note->bytes);
  }
  await_no_more(note);
  note->active = false;
  if (!note->persistent) erase(note);
}

void mk_note_freed(uintptr_t handle, const MPI_Request* place, const MPI_Status* status) {
  struct mk_request_note* note = find(handle, place);
  if (!note) {
    mk_put(MK_UNKNOWN);
    return;
  }
  mk_put(was_cancelled(note, status) ? NULL_OR_INACTIVE : made - note->number);
  await_no_more(note);
  erase(note);
}

/* Messages found by MPI_Mprobe live in a small ring of their own: they are received soon or not at all. */
enum { MESSAGES = 256 };
static struct {
  uintptr_t message;
  int communicator, peer, tag;
} messages[MESSAGES];
static unsigned next_message;

void mk_note_message(MPI_Message message, const struct mk_record* record) {
  const unsigned at = next_message++ % MESSAGES;
  messages[at].message = MK_HANDLE(message);
  messages[at].communicator = record->communicator;
  messages[at].peer = record->peer;
  messages[at].tag = record->tag;
}

void mk_fill_from_message(struct mk_record* record, MPI_Message message) {
  for (unsigned i = 0; i < MESSAGES; i++) {
    if (messages[i].message != MK_HANDLE(message) || !messages[i].message) continue;
    record->communicator = messages[i].communicator;
    record->peer = messages[i].peer;
    record->tag = messages[i].tag;
    messages[i].message = 0;
    return;
  }
  record->peer = MK_ANY;
}
