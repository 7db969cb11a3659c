/* Collectives, blocking and not. What goes out and what comes back depends on the rank's role; the proxy has the same
 * rules in proxy/collectives.cpp. */
#include "shim.h"

/* One call: `send` and `receive` are what this rank's data travels as, without type where it has none. */
struct collective {
  struct mb_call call;
  const struct mb_comm* comm;
  struct mb_buffer send, receive;
  const int *send_counts, *receive_counts; /* lists for the proxy: in items of the buffers' types */
  int64_t send_items, receive_items;       /* factors of those lists: basic elements of an item */
};

static bool begin(struct collective* c, int number, uint64_t entry_ns, const void* site, MPI_Comm comm) {
  mb_mark_end(MB_MARK_CALL);
  mb_open(&c->call, number, entry_ns, site);
  c->comm = mb_comm_of(comm);
  c->send = c->receive = (struct mb_buffer){0};
  c->send_counts = c->receive_counts = NULL;
  c->send_items = c->receive_items = 0;
  c->call.request.word[MB_C_COMM] = comm;
  if (c->comm) return true;
  mb_wrong(mb_call_names[number], MPI_ERR_COMM, "no such communicator (%d)", comm);
  return false;
}

static const char* name_of(const struct collective* c) { return mb_call_names[c->call.request.call]; }

static bool is_root(struct collective* c, int root) {
  c->call.request.word[MB_C_ROOT] = root;
  return c->comm->rank == root;
}

/* Counts and types for the proxy: of one block, in basic elements. */
static bool describe(struct collective* c, int count_word, int64_t count, MPI_Datatype datatype) {
  struct mb_buffer described;
  if (!mb_buffer_of(&described, name_of(c), NULL, count, datatype)) return false;
  c->call.request.word[count_word] = mb_elements(&described);
  c->call.request.word[count_word + 1] = described.type->basic;
  return true;
}

static bool reduction(struct collective* c, MPI_Op op, int64_t count, MPI_Datatype datatype) {
  c->call.request.word[MB_C_OP] = op;
  if (op < 1 || op >= MB_OPERATION_COUNT) {
    mb_wrong(name_of(c), MPI_ERR_OP, "no such operation (%d); only predefined ones are bridged", op);
    return false;
  }
  return describe(c, MB_C_SEND_COUNT, count, datatype) && describe(c, MB_C_RECV_COUNT, count, datatype);
}

static struct mb_buffer items(const void* at, int64_t count, MPI_Datatype datatype) {
  return (struct mb_buffer){.at = (char*)at, .type = mb_type_of(datatype), .count = count};
}

static struct mb_buffer blocks(const void* at, const int* counts, const int* displs, int n, MPI_Datatype datatype) {
  return (struct mb_buffer){
      .at = (char*)at, .type = mb_type_of(datatype), .counts = counts, .displs = displs, .blocks = n};
}

/* The block of `rank` in a buffer of equal blocks. */
static struct mb_buffer block_of(const void* at, int rank, int64_t count, MPI_Datatype datatype) {
  struct mb_buffer block = items(at, count, datatype);
  if (block.type) block.at += rank * count * block.type->extent;
  return block;
}

static void in_place(struct collective* c, int flag) { c->call.request.word[MB_C_FLAGS] |= flag; }

static int finish(struct collective* c, MPI_Request* request) {
  const int n = c->comm->size;
  int64_t* list = mb_list_room(0, 2 * n);
  int64_t used = 0;
  for (int i = 0; c->send_counts && i < n; i++) list[used++] = c->send_counts[i] * c->send_items;
  for (int i = 0; c->receive_counts && i < n; i++) list[used++] = c->receive_counts[i] * c->receive_items;
  if (request) {
    *request = mb_new_request(&c->send, &c->receive, false);
    c->call.request.word[MB_C_REQUEST] = *request;
  }
  mb_guest.receive = c->receive;
  mb_request(&c->call, list, used, &c->send);
  mb_reply(&c->call);
  if (!request) {
    mb_take_received(&c->receive, c->call.reply.payload_bytes, c->call.reply.word[MB_R_EXTERNAL]);
  } else if (c->call.reply.word[MB_R_RESULT] != MPI_SUCCESS) {
    mb_drop_request(*request);
    *request = MPI_REQUEST_NULL;
  }
  return mb_leave(&c->call);
}

#define UNPACK(...) __VA_ARGS__
/* The blocking and the non-blocking call of one body. */
#define COLLECTIVE(name, iname, parameters, arguments)                                                          \
  int MPI_##name(UNPACK parameters) { return do_##name(MB_##name, mb_now(), MB_SITE, NULL, UNPACK arguments); } \
  int MPI_##iname(UNPACK parameters, MPI_Request* request) {                                                    \
    return do_##name(MB_##iname, mb_now(), MB_SITE, request, UNPACK arguments);                                 \
  }
#define BODY(name, ...) \
  static int do_##name(int number, uint64_t entry_ns, const void* site, MPI_Request* request, __VA_ARGS__)
#define BEGIN(comm)    \
  struct collective c; \
  if (!begin(&c, number, entry_ns, site, comm)) return MPI_ERR_COMM

BODY(Barrier, MPI_Comm comm) {
  BEGIN(comm);
  return finish(&c, request);
}
COLLECTIVE(Barrier, Ibarrier, (MPI_Comm comm), (comm))

BODY(Bcast, void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  BEGIN(comm);
  if (!describe(&c, MB_C_SEND_COUNT, count, datatype)) return MPI_ERR_TYPE;
  *(is_root(&c, root) ? &c.send : &c.receive) = items(buffer, count, datatype);
  return finish(&c, request);
}
COLLECTIVE(Bcast, Ibcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
           (buffer, count, datatype, root, comm))

BODY(Reduce, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm) {
  BEGIN(comm);
  if (!reduction(&c, op, count, datatype)) return MPI_ERR_OP;
  const bool root_here = is_root(&c, root);
  if (sendbuf == MPI_IN_PLACE) in_place(&c, MB_SEND_IN_PLACE);
  c.send = items(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype);
  if (root_here) c.receive = items(recvbuf, count, datatype);
  return finish(&c, request);
}
COLLECTIVE(Reduce, Ireduce,
           (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm),
           (sendbuf, recvbuf, count, datatype, op, root, comm))

/* Allreduce, Scan and Exscan have the same arguments; Exscan leaves the first rank's receive buffer alone. */
BODY(Allreduce, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  BEGIN(comm);
  if (!reduction(&c, op, count, datatype)) return MPI_ERR_OP;
  if (sendbuf == MPI_IN_PLACE) in_place(&c, MB_SEND_IN_PLACE);
  c.send = items(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, count, datatype);
  const bool first_of_exscan = (number == MB_Exscan || number == MB_Iexscan) && c.comm->rank == 0;
  if (!first_of_exscan) c.receive = items(recvbuf, count, datatype);
  return finish(&c, request);
}
#define do_Scan do_Allreduce
#define do_Exscan do_Allreduce
#define REDUCING(name, iname)                                                                                  \
  COLLECTIVE(name, iname,                                                                                      \
             (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm), \
             (sendbuf, recvbuf, count, datatype, op, comm))
REDUCING(Allreduce, Iallreduce)
REDUCING(Scan, Iscan)
REDUCING(Exscan, Iexscan)

BODY(Reduce_scatter, const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype datatype, MPI_Op op,
     MPI_Comm comm) {
  BEGIN(comm);
  int64_t total = 0;
  for (int i = 0; i < c.comm->size; i++) total += recvcounts[i];
  if (!reduction(&c, op, 1, datatype)) return MPI_ERR_OP;
  if (sendbuf == MPI_IN_PLACE) in_place(&c, MB_SEND_IN_PLACE);
  c.send = items(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, total, datatype);
  c.receive = items(recvbuf, recvcounts[c.comm->rank], datatype);
  c.receive_counts = recvcounts;
  c.receive_items = c.send.type->elements;
  return finish(&c, request);
}
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
            MPI_Comm comm),
           (sendbuf, recvbuf, recvcounts, datatype, op, comm))

BODY(Reduce_scatter_block, const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
     MPI_Comm comm) {
  BEGIN(comm);
  if (!reduction(&c, op, recvcount, datatype)) return MPI_ERR_OP;
  if (sendbuf == MPI_IN_PLACE) in_place(&c, MB_SEND_IN_PLACE);
  c.send = items(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf, (int64_t)recvcount * c.comm->size, datatype);
  c.receive = items(recvbuf, recvcount, datatype);
  return finish(&c, request);
}
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
           (sendbuf, recvbuf, recvcount, datatype, op, comm))

/* What this rank contributes to a gather: its block, which with MPI_IN_PLACE lies in the receive buffer at `own`. */
static bool contribute(struct collective* c, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                       struct mb_buffer own) {
  if (sendbuf == MPI_IN_PLACE) {
    in_place(c, MB_SEND_IN_PLACE);
    c->send = own;
    return true;
  }
  c->send = items(sendbuf, sendcount, sendtype);
  return describe(c, MB_C_SEND_COUNT, sendcount, sendtype);
}

BODY(Gather, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  BEGIN(comm);
  struct mb_buffer own = {0};
  if (is_root(&c, root)) {
    if (!describe(&c, MB_C_RECV_COUNT, recvcount, recvtype)) return MPI_ERR_TYPE;
    c.receive = items(recvbuf, (int64_t)recvcount * c.comm->size, recvtype);
    own = block_of(recvbuf, root, recvcount, recvtype);
  }
  if (!contribute(&c, sendbuf, sendcount, sendtype, own)) return MPI_ERR_TYPE;
  return finish(&c, request);
}
COLLECTIVE(Gather, Igather,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))

/* The receiving side of Gatherv, Allgatherv and Alltoallv. */
static bool receive_blocks(struct collective* c, void* recvbuf, const int* counts, const int* displs,
                           MPI_Datatype recvtype) {
  if (!describe(c, MB_C_RECV_COUNT, 1, recvtype)) return false;
  c->receive = blocks(recvbuf, counts, displs, c->comm->size, recvtype);
  c->receive_counts = counts;
  c->receive_items = c->receive.type->elements;
  return true;
}

static struct mb_buffer displaced(const void* at, int count, int displ, MPI_Datatype datatype) {
  struct mb_buffer block = items(at, count, datatype);
  if (block.type) block.at += displ * block.type->extent;
  return block;
}

BODY(Gatherv, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
     const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  BEGIN(comm);
  struct mb_buffer own = {0};
  if (is_root(&c, root)) {
    if (!receive_blocks(&c, recvbuf, recvcounts, displs, recvtype)) return MPI_ERR_TYPE;
    own = displaced(recvbuf, recvcounts[root], displs[root], recvtype);
  }
  if (!contribute(&c, sendbuf, sendcount, sendtype, own)) return MPI_ERR_TYPE;
  return finish(&c, request);
}
COLLECTIVE(Gatherv, Igatherv,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))

BODY(Allgather, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
     MPI_Datatype recvtype, MPI_Comm comm) {
  BEGIN(comm);
  if (!describe(&c, MB_C_RECV_COUNT, recvcount, recvtype)) return MPI_ERR_TYPE;
  c.receive = items(recvbuf, (int64_t)recvcount * c.comm->size, recvtype);
  if (!contribute(&c, sendbuf, sendcount, sendtype, block_of(recvbuf, c.comm->rank, recvcount, recvtype)))
    return MPI_ERR_TYPE;
  return finish(&c, request);
}
COLLECTIVE(Allgather, Iallgather,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

BODY(Allgatherv, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
     const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  BEGIN(comm);
  if (!receive_blocks(&c, recvbuf, recvcounts, displs, recvtype)) return MPI_ERR_TYPE;
  const int rank = c.comm->rank;
  if (!contribute(&c, sendbuf, sendcount, sendtype, displaced(recvbuf, recvcounts[rank], displs[rank], recvtype)))
    return MPI_ERR_TYPE;
  return finish(&c, request);
}
COLLECTIVE(Allgatherv, Iallgatherv,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))

/* The receiving side of a scatter: this rank's block, nothing with MPI_IN_PLACE (the root's stays where it is). */
static bool receive_own(struct collective* c, void* recvbuf, int recvcount, MPI_Datatype recvtype) {
  if (recvbuf == MPI_IN_PLACE) {
    in_place(c, MB_RECV_IN_PLACE);
    return true;
  }
  c->receive = items(recvbuf, recvcount, recvtype);
  return describe(c, MB_C_RECV_COUNT, recvcount, recvtype);
}

BODY(Scatter, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
     MPI_Datatype recvtype, int root, MPI_Comm comm) {
  BEGIN(comm);
  if (is_root(&c, root)) {
    if (!describe(&c, MB_C_SEND_COUNT, sendcount, sendtype)) return MPI_ERR_TYPE;
    c.send = items(sendbuf, (int64_t)sendcount * c.comm->size, sendtype);
  }
  if (!receive_own(&c, recvbuf, recvcount, recvtype)) return MPI_ERR_TYPE;
  return finish(&c, request);
}
COLLECTIVE(Scatter, Iscatter,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))

static bool send_blocks(struct collective* c, const void* sendbuf, const int* counts, const int* displs,
                        MPI_Datatype sendtype) {
  if (!describe(c, MB_C_SEND_COUNT, 1, sendtype)) return false;
  c->send = blocks(sendbuf, counts, displs, c->comm->size, sendtype);
  c->send_counts = counts;
  c->send_items = c->send.type->elements;
  return true;
}

BODY(Scatterv, const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype, void* recvbuf,
     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  BEGIN(comm);
  if (is_root(&c, root) && !send_blocks(&c, sendbuf, sendcounts, displs, sendtype)) return MPI_ERR_TYPE;
  if (!receive_own(&c, recvbuf, recvcount, recvtype)) return MPI_ERR_TYPE;
  return finish(&c, request);
}
COLLECTIVE(Scatterv, Iscatterv,
           (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))

BODY(Alltoall, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
     MPI_Datatype recvtype, MPI_Comm comm) {
  BEGIN(comm);
  if (!describe(&c, MB_C_RECV_COUNT, recvcount, recvtype)) return MPI_ERR_TYPE;
  c.receive = items(recvbuf, (int64_t)recvcount * c.comm->size, recvtype);
  if (sendbuf == MPI_IN_PLACE) {
    in_place(&c, MB_SEND_IN_PLACE);
    c.send = c.receive;
  } else {
    if (!describe(&c, MB_C_SEND_COUNT, sendcount, sendtype)) return MPI_ERR_TYPE;
    c.send = items(sendbuf, (int64_t)sendcount * c.comm->size, sendtype);
  }
  return finish(&c, request);
}
COLLECTIVE(Alltoall, Ialltoall,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

BODY(Alltoallv, const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
     const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  BEGIN(comm);
  if (!receive_blocks(&c, recvbuf, recvcounts, rdispls, recvtype)) return MPI_ERR_TYPE;
  if (sendbuf == MPI_IN_PLACE) {
    in_place(&c, MB_SEND_IN_PLACE);
    c.send = c.receive;
  } else if (!send_blocks(&c, sendbuf, sendcounts, sdispls, sendtype)) {
    return MPI_ERR_TYPE;
  }
  return finish(&c, request);
}
COLLECTIVE(Alltoallv, Ialltoallv,
           (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))
