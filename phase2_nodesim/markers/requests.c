/* What is remembered of requests until they complete: receives from any source (their record gets the real source from
 * the completion's status), persistent requests (MPI_Start's record gets their peer, bytes and tag) and, under the
 * engine qemu, receives from known ranks (their data arrives when they complete). Other requests are not remembered, so
 * that most programs never search this table. */
#include "wrapping.h"

enum { TABLE = 1 << 16, FREE = 0, DELETED = 1 };
static struct mk_request_note* table;
int mk_notes;
int mk_awaited;

static struct mk_request_note* slot_for(uintptr_t key, bool insert) {
  if (!table && !(table = mk_allocate(TABLE * sizeof *table))) return NULL;
  const uint64_t hash = (uint64_t)key * 0x9e3779b97f4a7c15u;
  struct mk_request_note* reusable = NULL;
  for (unsigned i = 0; i < TABLE; i++) {
    struct mk_request_note* note = &table[((hash >> 40) + i) & (TABLE - 1)];
    if (note->request == key) return note;
    if (note->request == DELETED && !reusable) reusable = note;
    if (note->request == FREE) {
      if (!insert) return NULL;
      return reusable ? reusable : note;
    }
  }
  return insert ? reusable : NULL;
}

static struct mk_request_note* new_note(uintptr_t key) {
  if (key == FREE || key == DELETED) return NULL;
  mk_note_freed(key); /* a handle that was given back without our knowledge */
  struct mk_request_note* note = mk_notes < TABLE / 2 ? slot_for(key, true) : NULL;
  if (!note) return NULL;
  *note = (struct mk_request_note){.request = key, .peer = MK_NONE, .tag = MK_NONE};
  mk_notes++;
  return note;
}

struct mk_request_note* mk_find_note(uintptr_t request) {
  return mk_notes && request > DELETED ? slot_for(request, false) : NULL;
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

void mk_note_receive(MPI_Request request, struct mk_record* record, MPI_Comm comm, void* buffer) {
  struct mk_request_note* note = new_note(MK_HANDLE(request));
  record->flags |= MK_RECORD_ANY_SOURCE;
  if (!note) return;
  note->record = record;
  note->comm = comm;
  note->bytes = record->bytes;
  note->buffer = mk_node_injects ? buffer : NULL;
  note->received = true;
  await(note);
}

void mk_note_arrival(MPI_Request request, int peer, void* buffer, uint64_t bytes) {
  struct mk_request_note* note = mk_node_outside(peer) ? new_note(MK_HANDLE(request)) : NULL;
  if (!note) return;
  note->peer = peer;
  note->bytes = bytes;
  note->buffer = buffer;
  note->received = true;
  await(note);
}

void mk_note_persistent(MPI_Request request, const struct mk_record* record, MPI_Comm comm, void* buffer,
                        bool received) {
  struct mk_request_note* note = new_note(MK_HANDLE(request));
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
void mk_note_started(MPI_Request request, struct mk_record* start) {
  struct mk_request_note* note = mk_find_note(MK_HANDLE(request));
  if (!note || !note->persistent) return;
  start->bytes += note->bytes;
  if (start->requests == 1) {
    start->peer = note->peer;
    start->tag = note->tag;
    start->communicator = note->communicator;
  }
  if (note->peer == MK_ANY && !note->record) note->record = start;
  if (note->buffer && !note->received) mk_node_sent(note->peer, note->buffer, note->bytes);
  if (note->record || (note->buffer && note->received)) await(note);
}

void mk_note_completed(uintptr_t request, const MPI_Status* status) {
  struct mk_request_note* note = mk_find_note(request);
  if (!note) return;
  if (note->awaited) {
    int source = note->peer;
    if (note->record) {
      source = mk_peer(note->comm, status->MPI_SOURCE);
      const bool one = !note->persistent || note->record->requests == 1;
      if (one && source >= 0) {
        note->record->peer = source;
        note->record->flags |= MK_RECORD_ANY_SOURCE;
      }
    }
    if (note->buffer && note->received) mk_node_received(source, note->buffer, note->bytes);
    await_no_more(note);
  }
  if (!note->persistent) {
    note->request = DELETED;
    mk_notes--;
  }
}

void mk_note_freed(uintptr_t request) {
  struct mk_request_note* note = mk_find_note(request);
  if (!note) return;
  await_no_more(note);
  note->request = DELETED;
  mk_notes--;
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
