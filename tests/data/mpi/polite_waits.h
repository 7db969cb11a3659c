/* MPI_Wait, MPI_Waitall, MPI_Waitany and MPI_Waitsome with each kind of request, for polite_table.c. */
#include "polite_table.h"

#include <unistd.h>

/* clang-format off */
#define EACH_KIND(X) \
  X(NONE) X(SENT) X(LONG_SENT) X(TO_NOBODY) X(EXPECTED) X(LATE) X(LONG_EXPECTED) X(EMPTY) X(FROM_NOBODY) \
  X(FROM_ANYBODY) X(FROM_ITSELF) X(FROM_REMOTE) X(CANCELLED) X(REDUCTION) X(BARRIER) X(GENERAL) X(FILE_WRITE) \
  X(INACTIVE_SEND) X(STARTED_SEND) X(STARTED_BUFFERED) X(INACTIVE_RECEIVE) X(STARTED_RECEIVE) \
  X(STARTED_REDUCTION) X(INACTIVE_PARTS) X(SENT_PARTS) X(RECEIVED_PARTS) X(TOO_LONG) X(FAILED_GENERAL)
/* clang-format on */
#define NAME(kind) #kind,
#define VALUE(kind) kind,
enum kind { EACH_KIND(VALUE) KINDS };
static const char* const kind_names[] = {EACH_KIND(NAME)};
enum { PARTS = 2, MANY = 300, SLICE = 64 };

/* A request, and one of this rank that its partner's request of the same kind needs. */
struct made {
  MPI_Request request, partner;
};

static int freed; /* how often the program's own function was called */
static MPI_File file;

static int query(void* fails, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 2;
  status->MPI_TAG = 11;
  return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int release(void* fails) {
  (void)fails;
  freed++;
  return MPI_SUCCESS;
}

static int give_up(void* fails, int complete) {
  (void)fails, (void)complete;
  return MPI_SUCCESS;
}

/* Makes and starts the request; false if this MPI has none of its kind. */
static bool make(enum kind kind, struct made* made) {
  MPI_Request *q = &made->request, *p = &made->partner;
  const int other = rank ^ 1, tag = TAG + (int)kind;
  int* slice = received + (int)kind * SLICE;
  *q = *p = MPI_REQUEST_NULL;
  switch (kind) {
    case NONE:
      break;
    case SENT:
      MPI_Isend(sent, SHORT, MPI_INT, other, tag, quiet, q);
      MPI_Irecv(slice, SHORT, MPI_INT, other, tag, quiet, p);
      break;
    case LONG_SENT:
      MPI_Isend(sent, LONG, MPI_INT, other, tag, quiet, q);
      MPI_Irecv(received + 3 * LONG, LONG, MPI_INT, other, tag, quiet, p);
      break;
    case TO_NOBODY:
      MPI_Isend(sent, SHORT, MPI_INT, MPI_PROC_NULL, tag, quiet, q);
      break;
    case LATE:
      if (rank % 2) usleep(3000); /* fallthrough */
    case EXPECTED:
      MPI_Irecv(slice, SHORT, gapped, other, tag, quiet, q);
      MPI_Isend(sent, SHORT, gapped, other, tag, quiet, p);
      break;
    case LONG_EXPECTED:
      MPI_Irecv(received + LONG, LONG, gapped, other, tag, quiet, q);
      MPI_Isend(sent, LONG, MPI_INT, other, tag, quiet, p);
      break;
    case EMPTY:
      MPI_Irecv(slice, SHORT, MPI_INT, other, tag, quiet, q);
      MPI_Isend(sent, 0, MPI_INT, other, tag, quiet, p);
      break;
    case TOO_LONG:
      MPI_Irecv(slice, SHORT, MPI_INT, other, tag, quiet, q);
      MPI_Isend(sent, MORE, MPI_INT, other, tag, quiet, p);
      break;
    case FROM_NOBODY:
      MPI_Irecv(slice, SHORT, MPI_INT, MPI_PROC_NULL, tag, quiet, q);
      break;
    case FROM_ANYBODY:
      MPI_Irecv(slice, SHORT, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, quiet, q);
      MPI_Isend(sent, SHORT, MPI_INT, other, tag, quiet, p);
      break;
    case FROM_ITSELF:
      MPI_Irecv(slice, SHORT, MPI_INT, rank, tag, quiet, q);
      MPI_Isend(sent, SHORT, MPI_INT, rank, tag, quiet, p);
      break;
    case FROM_REMOTE:
      MPI_Irecv(slice, SHORT, MPI_INT, rank / 2, tag, inter, q);
      MPI_Isend(sent, SHORT, MPI_INT, rank / 2, tag, inter, p);
      break;
    case CANCELLED:
      MPI_Irecv(slice, SHORT, MPI_INT, MPI_ANY_SOURCE, tag, quiet, q);
      MPI_Cancel(q);
      break;
    case REDUCTION:
      MPI_Iallreduce(sent, slice, SHORT, MPI_INT, MPI_SUM, pair, q);
      break;
    case BARRIER:
      MPI_Ibarrier(pair, q);
      break;
    case GENERAL:
    case FAILED_GENERAL:
      MPI_Grequest_start(query, release, give_up, kind == FAILED_GENERAL ? q : NULL, q);
      MPI_Grequest_complete(*q);
      break;
    case FILE_WRITE:
      MPI_File_iwrite(file, sent, LONG, MPI_INT, q);
      break;
    case STARTED_SEND:
    case STARTED_BUFFERED:
      MPI_Irecv(slice, SHORT, MPI_INT, other, tag, quiet, p); /* fallthrough */
    case INACTIVE_SEND:
      (kind == STARTED_BUFFERED ? MPI_Bsend_init : MPI_Send_init)(sent, SHORT, MPI_INT, other, tag, quiet, q);
      if (kind != INACTIVE_SEND) MPI_Start(q);
      break;
    case STARTED_RECEIVE:
      MPI_Isend(sent, SHORT, MPI_INT, other, tag, quiet, p); /* fallthrough */
    case INACTIVE_RECEIVE:
      MPI_Recv_init(slice, SHORT, MPI_INT, MPI_ANY_SOURCE, tag, quiet, q);
      if (kind != INACTIVE_RECEIVE) MPI_Start(q);
      break;
#if MPI_VERSION >= 4
    case STARTED_REDUCTION:
      MPI_Allreduce_init(sent, slice, SHORT, MPI_INT, MPI_SUM, pair, MPI_INFO_NULL, q);
      MPI_Start(q);
      break;
    case INACTIVE_PARTS:
    case SENT_PARTS:
    case RECEIVED_PARTS: {
      MPI_Request* const sends = kind == SENT_PARTS ? q : p;
      MPI_Psend_init(sent, PARTS, SHORT, MPI_INT, other, tag, quiet, MPI_INFO_NULL, sends);
      MPI_Precv_init(slice, PARTS, SHORT, MPI_INT, other, tag, quiet, MPI_INFO_NULL, kind == SENT_PARTS ? p : q);
      if (kind == INACTIVE_PARTS) break;
      MPI_Start(q), MPI_Start(p);
      for (int part = 0; part < PARTS; part++) MPI_Pready(part, *sends);
      break;
    }
#endif
    default:
      return false;
  }
  return true;
}

/* `left`: what the wait made of the request. */
static void unmake(struct made* made, MPI_Request left) {
  MPI_Wait(&made->partner, MPI_STATUS_IGNORE);
  if (made->partner != MPI_REQUEST_NULL) MPI_Request_free(&made->partner);
  if (left != MPI_REQUEST_NULL) MPI_Request_free(&left);
}

/* The standard leaves the status of these open, and it is another in each run. */
static bool is_vague(enum kind kind) {
  return kind == REDUCTION || kind == BARRIER || kind == FILE_WRITE || kind == INACTIVE_PARTS || kind == SENT_PARTS ||
         kind == STARTED_REDUCTION || kind == TOO_LONG;
}

enum way { WAIT, WAITALL, WAITANY, WAITSOME, WAYS };
static const char* const way_names[WAYS] = {"Wait", "Waitall", "Waitany", "Waitsome"};

static void say_end(int code, const MPI_Request* requests, int count) {
  int left = 0;
  for (int i = 0; i < count; i++) left += requests[i] != MPI_REQUEST_NULL;
  say("returned %d, left %d freed %d", class_of(code), left, freed);
}

/* Until nothing is active. Which of several requests completes first is chance: their lines are written in order. */
static void wait_for(enum way way, int count, MPI_Request* requests, const enum kind* kinds, bool ignored) {
  static MPI_Status statuses[MANY], all[MANY];
  static int indices[MANY], codes[MANY];
  const MPI_Status* const none = MPI_STATUS_IGNORE;
  int done = 0, code = MPI_SUCCESS, rounds = 0;
  for (int i = 0; i < count; i++) forget(&all[i]), codes[i] = -1;
  do {
    for (int i = 0; i < count; i++) forget(&statuses[i]), indices[i] = i;
    done = count;
    if (way == WAIT) code = MPI_Wait(requests, ignored ? MPI_STATUS_IGNORE : statuses);
    if (way == WAITALL) code = MPI_Waitall(count, requests, ignored ? MPI_STATUSES_IGNORE : statuses);
    if (way == WAITANY) {
      code = MPI_Waitany(count, requests, indices, ignored ? MPI_STATUS_IGNORE : statuses);
      done = *indices == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    }
    if (way == WAITSOME) code = MPI_Waitsome(count, requests, &done, indices, ignored ? MPI_STATUSES_IGNORE : statuses);
    for (int i = 0; i < done; i++) all[indices[i]] = statuses[i], codes[indices[i]] = code;
  } while (way >= WAITANY && done != MPI_UNDEFINED && ++rounds <= count);
  if (way == WAITANY) say_status("nothing active", ignored ? none : statuses);
  for (int i = 0; i < count; i++) {
    if (codes[i] < 0) continue;
    say("request %d returned %d", i, class_of(codes[i]));
    if (is_vague(kinds[i])) forget_all_but_error(&all[i]);
    say_status("status", ignored ? none : &all[i]);
  }
  say_end(code, requests, count);
}

static void waits(const char* folder) {
  static char room[1 << 16];
  snprintf(label, sizeof label, "%s/file-%d", folder, rank);
  MPI_File_open(MPI_COMM_SELF, label, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_Buffer_attach(room, sizeof room);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH's for the errors of all requests */
  for (int way = 0; way < WAYS; way++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int ignored = 0; ignored < 2; ignored++) {
        struct made asked, inactive;
#ifdef OPEN_MPI
        if (kind == TOO_LONG && way == WAITALL) continue; /* Open MPI 4.1 frees active receives there */
#endif
        snprintf(label, sizeof label, "%s %s%s", way_names[way], kind_names[kind], ignored ? " ignored" : "");
        fill(SLICE * KINDS);
        if (!make(kind, &asked)) continue;
        make(INACTIVE_RECEIVE, &inactive);
        MPI_Request requests[3] = {way == WAIT ? asked.request : MPI_REQUEST_NULL, asked.request, inactive.request};
        const enum kind kinds[] = {way == WAIT ? kind : NONE, kind, INACTIVE_RECEIVE};
        wait_for(way, way == WAIT ? 1 : 3, requests, kinds, ignored);
        unmake(&asked, requests[way == WAIT ? 0 : 1]);
        unmake(&inactive, way == WAIT ? inactive.request : requests[2]);
        say_buffers(SLICE * KINDS);
      }
  for (int way = WAITALL; way < WAYS; way++)
    for (int ignored = 0; ignored < 2; ignored++) {
      struct made made[KINDS];
      static MPI_Request requests[MANY];
      static enum kind kinds[MANY];
      snprintf(label, sizeof label, "%s all%s", way_names[way], ignored ? " ignored" : "");
      fill(SLICE * KINDS);
      for (int i = 0; i < MANY; i++) requests[i] = MPI_REQUEST_NULL;
      for (int kind = 0; kind < TOO_LONG; kind++) {
        /* MPICH 4.0's MPI_Waitany never sees a persistent reduction end */
        const bool alone = kind == FROM_ANYBODY || kind == STARTED_REDUCTION;
        make(alone ? NONE : kind, &made[kind]);
        requests[MANY / KINDS * kind] = made[kind].request;
        kinds[MANY / KINDS * kind] = kind;
      }
      wait_for(way, MANY, requests, kinds, ignored);
      for (int kind = 0; kind < TOO_LONG; kind++) unmake(&made[kind], requests[MANY / KINDS * kind]);
      say_buffers(SLICE * KINDS);
    }
  MPI_File_close(&file);
}
