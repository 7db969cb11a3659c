/* Makes every call that polite waiting substitutes, with every kind of peer, message, communicator and request, and
 * writes what the program sees of each to <argv[1]>/lines-<rank>: return code, status and buffers. The lines must be
 * the same with polite waiting and without (tests/workflow/test_polite.py). Four ranks. polite_calls.h is generated
 * from the table of prototypes: call_<name>(arguments) for each, and what kind of call it is. */
#include "polite_table.h"

enum {
  SENDS = 1,
  RECEIVES = 2,
  TAKES_MESSAGE = 4,
  HAS_STATUS = 8,
  NEIGHBOURS = 16,
  FROM_ROOT = 32,
  TO_ROOT = 64,
  REDUCES = 128,
  SENDS_BLOCKS = 256,    /* of different sizes */
  RECEIVES_BLOCKS = 512, /* of different sizes */
  HAS_SENDBUF = 1024,
  PREFIX = 2048, /* MPI_Scan and MPI_Exscan */
};

/* Named as in the MPI standard. `buf` and `buffer` are one. */
struct arguments {
  const void* sendbuf;
  void *recvbuf, *buffer;
  int count, sendcount, recvcount, dest, source, tag, sendtag, recvtag, root;
  MPI_Datatype datatype, sendtype, recvtype;
  int sendcounts[MEMBERS], recvcounts[MEMBERS], sdispls[MEMBERS], rdispls[MEMBERS];
  MPI_Count large_sendcounts[MEMBERS], large_recvcounts[MEMBERS];
  MPI_Aint long_sdispls[MEMBERS], long_rdispls[MEMBERS];
  MPI_Datatype sendtypes[MEMBERS], recvtypes[MEMBERS];
  MPI_Op op;
  MPI_Comm comm;
  MPI_Message* message;
  MPI_Status* status;
};

struct call {
  const char* name;
  int (*make)(struct arguments*);
  unsigned use;
  int displacement_bytes; /* of one element of a displacement: 0 an extent */
};

#include "polite_calls.h"

#include "polite_waits.h"

enum peer { REAL, NOBODY, SELF, ANYBODY, ONE_WAY, REMOTE, PEERS, WRONG };
static const char* const peer_names[] = {"real", "null", "self", "any", "one-way", "remote", "", "wrong"};

static void message(const struct call* call, enum peer peer, int count, int capacity, bool gaps, bool ignored,
                    MPI_Comm comm) {
  const bool sends = call->use & SENDS, receives = call->use & RECEIVES;
  const int ints = 2 * (count > capacity ? count : capacity) + 2;
  const MPI_Datatype type = gaps ? gapped : MPI_INT;
  int to = rank ^ 1;
  if (peer == SELF) to = rank;
  if (peer == NOBODY) to = MPI_PROC_NULL;
  if (peer == WRONG) to = size + 5;
  if (peer == REMOTE) to = rank / 2;
  int from = peer == ANYBODY ? MPI_ANY_SOURCE : to;
  if (peer == ONE_WAY) *(rank % 2 ? &to : &from) = MPI_PROC_NULL;
  const int tag = peer == ANYBODY ? MPI_ANY_TAG : TAG;
  const bool alone = peer == NOBODY || peer == WRONG;
  snprintf(label, sizeof label, "%s %s %d in %d%s%s", call->name, peer_names[peer], count, capacity,
           gaps ? " gapped" : "", ignored ? " ignored" : "");
  fill(ints);
  MPI_Status status, other;
  MPI_Message found = MPI_MESSAGE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  forget(&status), forget(&other);
  struct arguments a = {.sendbuf = sent,
                        .recvbuf = received,
                        .buffer = sends && !receives ? sent : received,
                        .count = receives && !sends ? capacity : count,
                        .sendcount = count,
                        .recvcount = capacity,
                        .dest = to,
                        .source = from,
                        .tag = receives ? tag : TAG,
                        .sendtag = TAG,
                        .recvtag = tag,
                        .datatype = type,
                        .sendtype = type,
                        .recvtype = type,
                        .comm = comm,
                        .message = &found,
                        .status = ignored ? MPI_STATUS_IGNORE : &status};
  /* MPI_Sendrecv_replace has one count: whoever sends more receives less */
  if (sends && receives) a.count = rank % 2 ? count : capacity;
  if (!receives && !alone) MPI_Irecv(received, capacity, type, from, TAG, comm, &request);
  if (strncmp(call->name, "Rsend", 5) == 0) MPI_Barrier(pair); /* the receive is posted */
  if (!sends && !alone) MPI_Isend(sent, count, type, to, TAG, comm, &request);
  if (call->use & TAKES_MESSAGE) {
    say("probe returned %d", class_of(MPI_Mprobe(from, tag, comm, &found, ignored ? MPI_STATUS_IGNORE : &other)));
    say_status("probed", ignored ? MPI_STATUS_IGNORE : &other);
    if (peer == WRONG) return;
  }
  const int code = call->make(&a);
  say("returned %d", class_of(code));
  if (code != MPI_SUCCESS) forget_all_but_error(&status); /* MPICH's count of what was too long is chance */
  say_status("status", a.status);
  if (!alone) say("other request returned %d", class_of(MPI_Wait(&request, &other)));
  if (!alone && !receives) say_status("received", &other);
  say_buffers(ints);
}

static void messages(const struct call* call) {
  static const int counts[] = {0, SHORT, LONG};
  const bool sends = call->use & SENDS, receives = call->use & RECEIVES;
  for (int peer = 0; peer < PEERS; peer++) {
    if (!receives && peer == ANYBODY) continue;
    if (!(sends && receives) && peer == ONE_WAY) continue;
    for (int i = 0; i < 3; i++)
      for (int variant = 0; variant < 4; variant++) {
        const bool ignored = variant & 1, gaps = variant & 2;
        if (ignored && !(call->use & HAS_STATUS)) continue;
        message(call, peer, counts[i], counts[i], gaps, ignored, peer == REMOTE ? inter : MPI_COMM_WORLD);
      }
  }
  /* MPICH raises the errors of MPI_Mrecv there */
  if (call->use & TAKES_MESSAGE) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int ignored = 0; ignored < 2 && receives; ignored++) {
    message(call, REAL, MORE, SHORT, false, ignored, quiet);
    message(call, ANYBODY, LONG, SHORT, false, ignored, quiet);
    message(call, REAL, SHORT, LONG, true, ignored, quiet);
  }
  message(call, WRONG, SHORT, SHORT, false, false, quiet);
  message(call, REAL, SHORT, SHORT, false, false, quiet); /* what failed has not left anything behind */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void probes(enum peer peer, int count, bool ignored) {
  int to = peer == NOBODY ? MPI_PROC_NULL : peer == SELF ? rank : rank ^ 1;
  if (peer == WRONG) to = size + 5;
  const int from = peer == ANYBODY ? MPI_ANY_SOURCE : to, tag = peer == ANYBODY ? MPI_ANY_TAG : TAG;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  snprintf(label, sizeof label, "Probe %s %d%s", peer_names[peer], count, ignored ? " ignored" : "");
  forget(&status);
  if (peer != WRONG) MPI_Isend(sent, count, MPI_INT, to, TAG, quiet, &request);
  say("returned %d", class_of(MPI_Probe(from, tag, quiet, ignored ? MPI_STATUS_IGNORE : &status)));
  say_status("status", ignored ? MPI_STATUS_IGNORE : &status);
  if (peer != WRONG) MPI_Recv(received, count, MPI_INT, from, tag, quiet, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Maps x -> (value / 256) x + value % 256 modulo 251, one after the other: their order counts. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  const int* first = in;
  int* second = inout;
  (void)type;
  for (int i = 0; i < *length; i++) {
    const int a = first[i] / 256 % 251, b = first[i] % 256 % 251, c = second[i] / 256 % 251, d = second[i] % 256 % 251;
    second[i] = c * a % 251 * 256 + (c * b + d) % 251;
  }
}

struct place {
  const char* name;
  MPI_Comm comm;
  int own, count;       /* rank in the communicator; members that a block goes to or comes from */
  int members[MEMBERS]; /* their ranks */
  bool is_inter, low;
};

/* VARIED: a datatype with gaps, or an operation whose order counts. INEXACT: sums that depend on the order. */
enum kind_of_data { PLAIN, VARIED, INEXACT };

static void collective(const struct call* call, const struct place* at, int count, enum kind_of_data kind, int root,
                       bool in_place, MPI_Op op) {
  const bool gaps = kind == VARIED && !(call->use & REDUCES), inexact = kind == INEXACT;
  const bool rooted = call->use & (TO_ROOT | FROM_ROOT), both = call->use & SENDS_BLOCKS && call->use & RECEIVES_BLOCKS;
  const MPI_Datatype type = inexact ? MPI_FLOAT : gaps ? gapped : MPI_INT;
  const int extent = gaps ? 8 : 4, ints = (count + 8) * 2 * at->count + 2;
  const int ragged = count ? count + at->own : 0;
  snprintf(label, sizeof label, "%s %s %d%s root %d%s%s", call->name, at->name, count,
           inexact ? " inexact"
           : gaps  ? " gapped"
                   : "",
           root, in_place ? " in place" : "", op == MPI_SUM ? "" : " ordered");
  fill(ints);
  if (inexact) {
    for (int i = 0; i < ints; i++) memcpy(&sent[i], &(float){(float)sent[i] * 0.1f}, sizeof *sent);
  }
  if (in_place || !(call->use & HAS_SENDBUF)) memcpy(received, sent, (size_t)ints * sizeof *sent);
  struct arguments a = {.sendbuf = sent,
                        .recvbuf = received,
                        .buffer = received,
                        .count = count,
                        .sendcount = call->use & RECEIVES_BLOCKS ? ragged : count,
                        .recvcount = call->use & SENDS_BLOCKS ? ragged : count,
                        .root = root,
                        .datatype = type,
                        .sendtype = type,
                        .recvtype = type,
                        .op = op,
                        .comm = at->comm};
  const int unit = call->displacement_bytes ? extent : 1;
  for (int i = 0, place = 0; i < at->count; i++) {
    const int member = at->members[i] > 0 ? at->members[i] : 0; /* or MPI_PROC_NULL */
    const int block = count ? count + member + (both ? at->own : 0) : 0;
    a.sendcounts[i] = a.recvcounts[i] = block;
    a.large_sendcounts[i] = a.large_recvcounts[i] = block;
    a.sdispls[i] = a.rdispls[i] = place * unit;
    a.long_sdispls[i] = a.long_rdispls[i] = (MPI_Aint)place * unit;
    a.sendtypes[i] = a.recvtypes[i] = type;
    place += block + 1;
  }
  if (at->is_inter && rooted && at->low) a.root = at->own == root ? MPI_ROOT : MPI_PROC_NULL;
  if (in_place && (!rooted || (call->use & TO_ROOT && at->own == root))) a.sendbuf = MPI_IN_PLACE;
  if (in_place && call->use & FROM_ROOT && at->own == root) a.recvbuf = MPI_IN_PLACE;
  say("returned %d", class_of(call->make(&a)));
  const bool scatters = strncmp(call->name, "Reduce_scatter", 14) == 0; /* the rest of the buffer is left open */
  say_buffers(in_place && scatters ? (call->use & RECEIVES_BLOCKS ? ragged : count) : ints);
}

static void collectives(const struct call* call, const struct place* at, MPI_Op ordered) {
  static const int counts[] = {SHORT, 0, 3000, 200};
  const bool rooted = call->use & (TO_ROOT | FROM_ROOT), reduces = call->use & REDUCES;
  const bool may_be_in_place = call->use & HAS_SENDBUF && !(call->use & NEIGHBOURS) && !at->is_inter;
  /* what is longer goes the same ways in the variants with large counts */
  const int sizes = strstr(call->name, "_c") ? 1 : reduces ? 4 : 3;
  if (at->is_inter && call->use & PREFIX) return;
  for (int i = 0; i < sizes; i++)
    for (int root = 0; root < (rooted ? 2 : 1); root++)
      for (int in_place = 0; in_place < (may_be_in_place ? 2 : 1); in_place++) {
        if (in_place && root && reduces) continue; /* MPICH 4.0's MPI_Reduce reads MPI_IN_PLACE there, and crashes */
        const bool is_long = counts[i] > SHORT;
        if (!(is_long && reduces)) collective(call, at, counts[i], PLAIN, root, in_place, MPI_SUM);
        if (counts[i] == SHORT) collective(call, at, counts[i], VARIED, root, in_place, reduces ? ordered : MPI_SUM);
        if (is_long && reduces) collective(call, at, counts[i], INEXACT, root, in_place, MPI_SUM);
      }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char path[4096];
  snprintf(path, sizeof path, "%s/lines-%d", argv[1], rank);
  if (size != 4 || !(lines = fopen(path, "w"))) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
  MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN);
  MPI_Comm_split(quiet, rank / 2, rank, &pair);
  MPI_Comm halves;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
  MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - rank % 2, TAG, &inter);

  struct place places[] = {
      {"intra", quiet, rank, size, {0, 1, 2, 3}, false, false},
      {"inter", inter, rank / 2, size / 2, {0, 1}, true, rank % 2 == 0},
      {"ring", MPI_COMM_NULL, rank, 2, {0}, false, false},
      {"line", MPI_COMM_NULL, rank, 2, {0}, false, false},
  };
  for (int i = 2; i < 4; i++) {
    MPI_Cart_create(quiet, 1, &size, &(int){i == 2}, 0, &places[i].comm);
    MPI_Cart_shift(places[i].comm, 0, 1, &places[i].members[0], &places[i].members[1]);
  }
  MPI_Op ordered;
  MPI_Op_create(compose, 0, &ordered);
  for (int i = 0; i < call_count; i++) {
    const struct place* const first = &places[calls[i].use & NEIGHBOURS ? 2 : 0];
    for (int place = 0; place < 2 && !(calls[i].use & (SENDS | RECEIVES)); place++)
      collectives(&calls[i], first + place, ordered);
  }
  if (rank < 2) {
    for (int peer = 0; peer <= WRONG; peer++)
      if (peer <= ANYBODY || peer == WRONG)
        for (int variant = 0; variant < 4; variant++) probes(peer, variant & 1 ? SHORT : 0, variant & 2);
    for (int i = 0; i < call_count; i++)
      if (calls[i].use & (SENDS | RECEIVES)) messages(&calls[i]);
    waits(argv[1]);
  }
  /* the others leave the cores to the two */
  MPI_Request end;
  int ended = 0;
  MPI_Ibarrier(MPI_COMM_WORLD, &end);
  while (MPI_Test(&end, &ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && !ended) usleep(1000);
  MPI_Finalize();
  return 0;
}
