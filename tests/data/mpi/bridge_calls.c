/* Every call that the bridge covers, with results that do not depend on time: each rank prints what it got, one line
 * per call, and the lines must be the same with plain MPI and through the bridge. Any number of ranks from 2 on. */
#include <mpi.h>

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, LARGE = 300000 /* more than a FIFO holds */ };

static int rank, size, right, left;
static char lines[1 << 16];
static size_t used;

static void say(const char* call, const char* format, ...) {
  va_list arguments;
  used += (size_t)snprintf(lines + used, sizeof lines - used, "r%d %s ", rank, call);
  va_start(arguments, format);
  used += (size_t)vsnprintf(lines + used, sizeof lines - used, format, arguments);
  va_end(arguments);
  used += (size_t)snprintf(lines + used, sizeof lines - used, "\n");
}

static void say_doubles(const char* call, const double* values, int count) {
  used += (size_t)snprintf(lines + used, sizeof lines - used, "r%d %s", rank, call);
  for (int i = 0; i < count; i++) used += (size_t)snprintf(lines + used, sizeof lines - used, " %g", values[i]);
  used += (size_t)snprintf(lines + used, sizeof lines - used, "\n");
}

static void say_ints(const char* call, const int* values, int count) {
  used += (size_t)snprintf(lines + used, sizeof lines - used, "r%d %s", rank, call);
  for (int i = 0; i < count; i++) used += (size_t)snprintf(lines + used, sizeof lines - used, " %d", values[i]);
  used += (size_t)snprintf(lines + used, sizeof lines - used, "\n");
}

/* MPI_ANY_SOURCE and the like have values of their own in every library. */
static int plain(int source) { return source == MPI_ANY_SOURCE ? -1001 : source == MPI_PROC_NULL ? -1003 : source; }

static void say_status(const char* call, const MPI_Status* status, MPI_Datatype type) {
  int count;
  MPI_Get_count(status, type, &count);
  say(call, "source %d tag %d count %d", plain(status->MPI_SOURCE),
      status->MPI_TAG == MPI_ANY_TAG ? -1002 : status->MPI_TAG, count == MPI_UNDEFINED ? -1004 : count);
}

static double value(int who, int index) { return 100.0 * who + index; }

static void fill(double* a, int count) {
  for (int i = 0; i < count; i++) a[i] = value(rank, i);
}

static void messages(void) {
  double a[N], b[N];
  MPI_Status status;
  int flag;
  fill(a, N);
  for (int kind = 0; kind < 3; kind++) { /* ready sends need their receive: it is posted before the barrier */
    MPI_Request request;
    memset(b, 0, sizeof b);
    MPI_Irecv(b, N, MPI_DOUBLE, left, kind, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind == 0) MPI_Send(a, N - kind, MPI_DOUBLE, right, kind, MPI_COMM_WORLD);
    if (kind == 1) MPI_Ssend(a, N - kind, MPI_DOUBLE, right, kind, MPI_COMM_WORLD);
    if (kind == 2) MPI_Rsend(a, N - kind, MPI_DOUBLE, right, kind, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say("null", "%d", request == MPI_REQUEST_NULL);
    say_status("MPI_Wait", &status, MPI_DOUBLE);
    say_doubles("MPI_Irecv", b, N);
  }
  memset(b, 0, sizeof b);
  if (rank % 2 == 0) {
    MPI_Send(a, 3, MPI_DOUBLE, right, 5, MPI_COMM_WORLD);
    MPI_Recv(b, N, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    MPI_Send(a, 3, MPI_DOUBLE, right, 5, MPI_COMM_WORLD);
  }
  say_status("MPI_Recv", &status, MPI_DOUBLE);
  say_doubles("MPI_Recv", b, N);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(b, N, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  int nothing; /* its source is not looked at: the markers' polite MPI_Recv gets it wrong from MPICH 4.0 */
  MPI_Get_count(&status, MPI_DOUBLE, &nothing);
  say("MPI_Recv from MPI_PROC_NULL", "%d", nothing);
#ifdef MANYNODE_BRIDGE
  if (status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG) say("wrong status", "");
#endif
  MPI_Send(a, N, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
  MPI_Sendrecv(a, 4, MPI_DOUBLE, right, 6, b, N, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &status);
  say_status("MPI_Sendrecv", &status, MPI_DOUBLE);
  say_doubles("MPI_Sendrecv", b, 4);
  MPI_Sendrecv_replace(b, 4, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say_doubles("MPI_Sendrecv_replace", b, 4);
  MPI_Request sending;
  MPI_Isend(a, 2, MPI_DOUBLE, right, 8, MPI_COMM_WORLD, &sending);
  MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  say_status("MPI_Probe", &status, MPI_DOUBLE);
  MPI_Iprobe(left, 8, MPI_COMM_WORLD, &flag, &status);
  say("MPI_Iprobe", "%d", flag);
  MPI_Recv(b, N, MPI_DOUBLE, left, 8, MPI_COMM_WORLD, &status);
  MPI_Iprobe(left, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  say("MPI_Iprobe", "%d", flag);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void large_messages(void) {
  static char out[LARGE], in[LARGE];
  for (int i = 0; i < LARGE; i++) out[i] = (char)(i * 7 + rank);
  MPI_Sendrecv(out, LARGE, MPI_CHAR, right, 1, in, LARGE, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < LARGE; i++) wrong += in[i] != (char)(i * 7 + left);
  say("large", "%d", wrong);
  /* unaligned, beside memory that must stay as it is */
  memset(in, 55, LARGE);
  MPI_Sendrecv(out + 3, 1001, MPI_CHAR, right, 1, in + 13, 1001, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong = 0;
  for (int i = 0; i < 1001; i++) wrong += in[13 + i] != (char)((i + 3) * 7 + left);
  for (int i = 0; i < 13; i++) wrong += in[i] != 55;
  for (int i = 1014; i < 2000; i++) wrong += in[i] != 55;
  say("unaligned", "%d", wrong);
}

static void requests(void) {
  double a[N], b[4][N];
  MPI_Request q[6];
  MPI_Status statuses[6], status;
  int flag = 0, index, outcount, indices[6];
  fill(a, N);
  for (int i = 0; i < 3; i++) MPI_Irecv(b[i], N, MPI_DOUBLE, i == 2 ? MPI_ANY_SOURCE : left, i, MPI_COMM_WORLD, &q[i]);
  MPI_Isend(a, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &q[3]);
  MPI_Issend(a, 2, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[4]);
  MPI_Isend(a, 3, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &q[5]);
  MPI_Waitall(6, q, statuses);
  for (int i = 0; i < 3; i++) {
    say_status("MPI_Waitall", &statuses[i], MPI_DOUBLE);
    say_doubles("MPI_Waitall", b[i], i + 1);
  }
  MPI_Waitall(6, q, statuses);
  say_status("MPI_Waitall of null requests", &statuses[0], MPI_DOUBLE);
  MPI_Waitany(6, q, &index, &status);
  say("MPI_Waitany of null requests", "%d", index == MPI_UNDEFINED);
  MPI_Waitsome(6, q, &outcount, indices, statuses);
  say("MPI_Waitsome of null requests", "%d", outcount == MPI_UNDEFINED);
  MPI_Testall(6, q, &flag, MPI_STATUSES_IGNORE);
  say("MPI_Testall of null requests", "%d", flag);
  MPI_Testany(6, q, &index, &flag, &status);
  say("MPI_Testany of null requests", "%d %d", flag, index == MPI_UNDEFINED);

  /* one after the other, whatever comes first */
  for (int i = 0; i < 4; i++) MPI_Irecv(b[i], N, MPI_DOUBLE, left, 10 + i, MPI_COMM_WORLD, &q[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Test(&q[0], &flag, &status);
  say("MPI_Test before anything was sent", "%d", flag);
  MPI_Testall(4, q, &flag, statuses);
  say("MPI_Testall before anything was sent", "%d", flag);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) MPI_Send(a + i, 1, MPI_DOUBLE, right, 10 + i, MPI_COMM_WORLD);
  MPI_Waitany(4, q, &index, &status);
  say("MPI_Waitany", "%d", index >= 0 && index < 4 && status.MPI_TAG == 10 + index);
  flag = 0;
  int done = index;
  while (!flag) MPI_Testany(4, q, &index, &flag, &status);
  say("MPI_Testany", "%d", index != done && status.MPI_TAG == 10 + index);
  MPI_Waitsome(4, q, &outcount, indices, statuses);
  int got = outcount;
  for (int i = 0; i < outcount; i++) flag = flag && statuses[i].MPI_TAG == 10 + indices[i];
  while (got < 2) {
    MPI_Testsome(4, q, &outcount, indices, statuses);
    for (int i = 0; i < outcount; i++) flag = flag && statuses[i].MPI_TAG == 10 + indices[i];
    got += outcount;
  }
  say("MPI_Waitsome and MPI_Testsome", "%d %d", got, flag);
  for (int i = 0; i < 4; i++) say_doubles("in their places", b[i], 1);
  MPI_Irecv(b[0], N, MPI_DOUBLE, left, 20, MPI_COMM_WORLD, &q[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irsend(a, N, MPI_DOUBLE, right, 20, MPI_COMM_WORLD, &q[1]);
  for (flag = 0; !flag;) MPI_Test(&q[0], &flag, &status);
  say_status("MPI_Test", &status, MPI_DOUBLE);
  for (flag = 0; !flag;) MPI_Testall(2, q, &flag, statuses);
  MPI_Isend(a, N, MPI_DOUBLE, right, 21, MPI_COMM_WORLD, &q[0]);
  MPI_Request_free(&q[0]);
  MPI_Recv(b[1], N, MPI_DOUBLE, left, 21, MPI_COMM_WORLD, &status);
  say_doubles("MPI_Request_free", b[1], N);

  /* persistent ones, twice */
  MPI_Recv_init(b[0], N, MPI_DOUBLE, left, 30, MPI_COMM_WORLD, &q[0]);
  MPI_Recv_init(b[1], N, MPI_DOUBLE, left, 31, MPI_COMM_WORLD, &q[1]);
  MPI_Recv_init(b[2], N, MPI_DOUBLE, left, 32, MPI_COMM_WORLD, &q[2]);
  MPI_Send_init(a, N, MPI_DOUBLE, right, 30, MPI_COMM_WORLD, &q[3]);
  MPI_Ssend_init(a, N, MPI_DOUBLE, right, 31, MPI_COMM_WORLD, &q[4]);
  MPI_Rsend_init(a, N, MPI_DOUBLE, right, 32, MPI_COMM_WORLD, &q[5]);
  for (int turn = 0; turn < 2; turn++) {
    a[0] = turn + rank;
    MPI_Startall(3, q);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(2, q + 3);
    MPI_Start(&q[5]);
    MPI_Waitall(6, q, statuses);
    say_status("MPI_Startall", &statuses[1], MPI_DOUBLE);
    for (int i = 0; i < 3; i++) say_doubles("persistent", b[i], N);
  }
  MPI_Wait(&q[0], &status);
  say_status("MPI_Wait of an inactive request", &status, MPI_DOUBLE);
  for (int i = 0; i < 6; i++) MPI_Request_free(&q[i]);
}

static void finish(MPI_Request* request) {
  int flag = 0;
  if (rank % 2)
    MPI_Wait(request, MPI_STATUS_IGNORE);
  else
    while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

/* Every collective, blocking or not, on `comm`, from and to separate buffers and in place. */
static void collectives(MPI_Comm comm, int nonblocking) {
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  const int root = members - 1, many = 2 * members;
  double *a = calloc(64, sizeof *a), *b = calloc(64, sizeof *b);
  int counts[16], displs[16], all = 0, ones[16], spread[16];
  MPI_Request q = MPI_REQUEST_NULL;
  for (int i = 0; i < members; i++) {
    counts[i] = i + 1;
    displs[i] = all + i; /* gaps, which must stay */
    all += i + 1;
    ones[i] = 1;
    spread[i] = 2 * i;
  }
#define CALL(Name, iname, ...)     \
  if (nonblocking) {               \
    MPI_I##iname(__VA_ARGS__, &q); \
    finish(&q);                    \
  } else {                         \
    MPI_##Name(__VA_ARGS__);       \
  }
#define FRESH() \
  for (int i = 0; i < 64; i++) a[i] = value(me, i), b[i] = -i
  if (nonblocking) {
    MPI_Ibarrier(comm, &q);
    finish(&q);
  } else {
    MPI_Barrier(comm);
  }
  FRESH();
  CALL(Bcast, bcast, a, N, MPI_DOUBLE, root, comm)
  say_doubles("MPI_Bcast", a, N);
  FRESH();
  CALL(Reduce, reduce, a, b, 3, MPI_DOUBLE, MPI_SUM, root, comm)
  say_doubles("MPI_Reduce", b, 4);
  FRESH();
  CALL(Reduce, reduce, me == root ? MPI_IN_PLACE : a, me == root ? a : NULL, 3, MPI_DOUBLE, MPI_SUM, root, comm)
  say_doubles("MPI_Reduce in place", a, 4);
  FRESH();
  CALL(Allreduce, allreduce, a, b, 3, MPI_DOUBLE, MPI_MAX, comm)
  say_doubles("MPI_Allreduce", b, 4);
  FRESH();
  CALL(Allreduce, allreduce, MPI_IN_PLACE, a, 3, MPI_DOUBLE, MPI_MIN, comm)
  say_doubles("MPI_Allreduce in place", a, 4);
  FRESH();
  CALL(Scan, scan, a, b, 3, MPI_DOUBLE, MPI_SUM, comm)
  say_doubles("MPI_Scan", b, 4);
  FRESH();
  CALL(Scan, scan, MPI_IN_PLACE, a, 3, MPI_DOUBLE, MPI_SUM, comm)
  say_doubles("MPI_Scan in place", a, 4);
  FRESH();
  CALL(Exscan, exscan, a, b, 3, MPI_DOUBLE, MPI_SUM, comm)
  if (me > 0) say_doubles("MPI_Exscan", b, 4);
  FRESH();
  CALL(Reduce_scatter, reduce_scatter, a, b, counts, MPI_DOUBLE, MPI_SUM, comm)
  say_doubles("MPI_Reduce_scatter", b, members + 1);
  FRESH();
  CALL(Reduce_scatter, reduce_scatter, MPI_IN_PLACE, a, counts, MPI_DOUBLE, MPI_SUM, comm)
  say_doubles("MPI_Reduce_scatter in place", a, counts[me]);
  FRESH();
  CALL(Reduce_scatter_block, reduce_scatter_block, a, b, 2, MPI_DOUBLE, MPI_SUM, comm)
  say_doubles("MPI_Reduce_scatter_block", b, 3);
  FRESH();
  CALL(Reduce_scatter_block, reduce_scatter_block, MPI_IN_PLACE, a, 2, MPI_DOUBLE, MPI_SUM, comm)
  say_doubles("MPI_Reduce_scatter_block in place", a, 2);
  FRESH();
  CALL(Gather, gather, a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm)
  say_doubles("MPI_Gather", b, many + 1);
  FRESH();
  if (me == root) {
    CALL(Gather, gather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_DOUBLE, root, comm)
  } else {
    CALL(Gather, gather, a, 2, MPI_DOUBLE, NULL, 0, MPI_DATATYPE_NULL, root, comm)
  }
  say_doubles("MPI_Gather in place", a, many + 1);
  FRESH();
  CALL(Gatherv, gatherv, a, me + 1, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, root, comm)
  say_doubles("MPI_Gatherv", b, all + members + 1);
  FRESH();
  if (me == root) {
    CALL(Gatherv, gatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_DOUBLE, root, comm)
  } else {
    CALL(Gatherv, gatherv, a, me + 1, MPI_DOUBLE, NULL, NULL, NULL, MPI_DATATYPE_NULL, root, comm)
  }
  say_doubles("MPI_Gatherv in place", b, all + members + 1);
  FRESH();
  CALL(Allgather, allgather, a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm)
  say_doubles("MPI_Allgather", b, many + 1);
  FRESH();
  CALL(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_DOUBLE, comm)
  say_doubles("MPI_Allgather in place", a, many + 1);
  FRESH();
  CALL(Allgatherv, allgatherv, a, me + 1, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm)
  say_doubles("MPI_Allgatherv", b, all + members + 1);
  FRESH();
  CALL(Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, counts, displs, MPI_DOUBLE, comm)
  say_doubles("MPI_Allgatherv in place", a, all + members + 1);
  FRESH();
  CALL(Scatter, scatter, a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm)
  say_doubles("MPI_Scatter", b, 3);
  FRESH();
  if (me == root) {
    CALL(Scatter, scatter, a, 2, MPI_DOUBLE, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm)
  } else {
    CALL(Scatter, scatter, NULL, 0, MPI_DATATYPE_NULL, a, 2, MPI_DOUBLE, root, comm)
  }
  say_doubles("MPI_Scatter in place", a, many);
  FRESH();
  CALL(Scatterv, scatterv, a, counts, displs, MPI_DOUBLE, b, me + 1, MPI_DOUBLE, root, comm)
  say_doubles("MPI_Scatterv", b, me + 2);
  FRESH();
  CALL(Alltoall, alltoall, a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm)
  say_doubles("MPI_Alltoall", b, many + 1);
  FRESH();
  CALL(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 2, MPI_DOUBLE, comm)
  say_doubles("MPI_Alltoall in place", a, many + 1);
  FRESH();
  CALL(Alltoallv, alltoallv, a, ones, displs, MPI_DOUBLE, b, ones, spread, MPI_DOUBLE, comm)
  say_doubles("MPI_Alltoallv", b, many + 1);
  FRESH();
  CALL(Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, a, ones, spread, MPI_DOUBLE, comm)
  say_doubles("MPI_Alltoallv in place", a, many + 1);
  free(a);
  free(b);
}

static void operations(void) {
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    int in[2] = {rank + 1, rank % 2}, out[2];
    MPI_Allreduce(in, out, 2, MPI_INT, ops[i], MPI_COMM_WORLD);
    say_ints("operation", out, 2);
  }
  struct {
    double value;
    int index;
  } pair = {fabs(rank - 1.5), rank}, least[2];
  MPI_Allreduce(&pair, &least[0], 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  MPI_Allreduce(&pair, &least[1], 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  say("locations", "%g %d %g %d", least[0].value, least[0].index, least[1].value, least[1].index);
  int from[2] = {10 - rank, rank}, to[2];
  MPI_Allreduce(from, to, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  say_ints("locations", to, 2);
#define TYPE(type, mpi)                                          \
  {                                                              \
    type mine = (type)(rank + 1), sum;                           \
    MPI_Allreduce(&mine, &sum, 1, mpi, MPI_SUM, MPI_COMM_WORLD); \
    say(#mpi, "%g", (double)sum);                                \
  }
  TYPE(signed char, MPI_SIGNED_CHAR)
  TYPE(unsigned char, MPI_UNSIGNED_CHAR)
  TYPE(short, MPI_SHORT)
  TYPE(unsigned short, MPI_UNSIGNED_SHORT)
  TYPE(int, MPI_INT)
  TYPE(unsigned, MPI_UNSIGNED)
  TYPE(long, MPI_LONG)
  TYPE(unsigned long, MPI_UNSIGNED_LONG)
  TYPE(long long, MPI_LONG_LONG)
  TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG)
  TYPE(float, MPI_FLOAT)
  TYPE(double, MPI_DOUBLE)
  TYPE(long double, MPI_LONG_DOUBLE)
  TYPE(int8_t, MPI_INT8_T)
  TYPE(int16_t, MPI_INT16_T)
  TYPE(int32_t, MPI_INT32_T)
  TYPE(int64_t, MPI_INT64_T)
  TYPE(uint8_t, MPI_UINT8_T)
  TYPE(uint16_t, MPI_UINT16_T)
  TYPE(uint32_t, MPI_UINT32_T)
  TYPE(uint64_t, MPI_UINT64_T)
  TYPE(MPI_Aint, MPI_AINT)
  TYPE(MPI_Offset, MPI_OFFSET)
  TYPE(MPI_Count, MPI_COUNT)
}

static void datatypes(void) {
  MPI_Datatype row, column, columns, narrow;
  MPI_Aint lb, extent;
  int bytes, count;
  MPI_Status status;
  double a[36], b[36];
  MPI_Type_contiguous(6, MPI_DOUBLE, &row);
  MPI_Type_vector(6, 1, 6, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &narrow);
  MPI_Type_create_hvector(3, 2, 12 * sizeof(double), MPI_DOUBLE, &columns);
  MPI_Datatype* const types[] = {&row, &column, &narrow, &columns};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    MPI_Type_commit(types[i]);
    MPI_Type_size(*types[i], &bytes);
    MPI_Type_get_extent(*types[i], &lb, &extent);
    say("datatype", "size %d lb %ld extent %ld", bytes, (long)lb, (long)extent);
    for (int k = 0; k < 36; k++) a[k] = value(rank, k), b[k] = -k;
    MPI_Sendrecv(a, 1, *types[i], right, 1, b, 1, *types[i], left, 1, MPI_COMM_WORLD, &status);
    say_doubles("to the same datatype", b, 36);
    MPI_Get_count(&status, *types[i], &count);
    MPI_Get_elements(&status, *types[i], &bytes);
    say("MPI_Get_count", "%d %d", count, bytes);
    for (int k = 0; k < 36; k++) b[k] = -k;
    MPI_Sendrecv(a, 1, *types[i], right, 1, b, 36, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &status);
    say_doubles("to a basic datatype", b, 36);
  }
  /* a matrix transposed by its datatypes, and columns in collectives */
  for (int k = 0; k < 36; k++) a[k] = value(rank, k), b[k] = -k;
  MPI_Sendrecv(a, 36, MPI_DOUBLE, right, 2, b, 6, narrow, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say_doubles("transposed", b, 36);
  for (int k = 0; k < 36; k++) b[k] = -k;
  if (size <= 6) MPI_Allgather(a, 6, MPI_DOUBLE, b, 1, narrow, MPI_COMM_WORLD);
  say_doubles("columns gathered", b, 36);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) MPI_Type_free(types[i]);
  say("MPI_Type_free", "%d", column == MPI_DATATYPE_NULL);
}

static void communicators(void) {
  MPI_Comm dup, half, none, created, cart, line;
  MPI_Group all, some, rest;
  int result, me, members, ranks[16], out[16], flag;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
  say("MPI_Comm_compare", "%d", result == MPI_CONGRUENT);
  MPI_Comm_compare(dup, dup, &result);
  say("MPI_Comm_compare", "%d", result == MPI_IDENT);
  MPI_Comm_compare(MPI_COMM_SELF, dup, &result);
  say("MPI_Comm_compare", "%d", result == MPI_UNEQUAL);
  MPI_Comm_split(dup, rank % 2, -rank, &half);
  MPI_Comm_rank(half, &me);
  MPI_Comm_size(half, &members);
  say("MPI_Comm_split", "%d of %d", me, members);
  collectives(half, 0);
  MPI_Comm_split(dup, 0, -rank, &created);
  MPI_Comm_compare(dup, created, &result);
  say("MPI_Comm_compare", "%d", result == MPI_SIMILAR);
  MPI_Comm_free(&created);
  MPI_Comm_split(dup, rank == 0 ? MPI_UNDEFINED : 0, 0, &none);
  say("MPI_Comm_split", "%d", none == MPI_COMM_NULL);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  MPI_Comm_free(&half);
  say("MPI_Comm_free", "%d", half == MPI_COMM_NULL);
  MPI_Comm_test_inter(dup, &flag);
  say("MPI_Comm_test_inter", "%d", flag);

  MPI_Comm_group(dup, &all);
  ranks[0] = size - 1, ranks[1] = 0;
  MPI_Group_incl(all, 2, ranks, &some);
  MPI_Group_excl(all, 1, ranks, &rest);
  MPI_Group_size(some, &members);
  MPI_Group_rank(some, &me);
  say("MPI_Group_incl", "%d %d", members, me == MPI_UNDEFINED ? -1 : me);
  MPI_Group_size(rest, &members);
  MPI_Group_rank(rest, &me);
  say("MPI_Group_excl", "%d %d", members, me == MPI_UNDEFINED ? -1 : me);
  for (int i = 0; i < 2; i++) ranks[i] = i;
  MPI_Group_translate_ranks(some, 2, ranks, all, out);
  say_ints("MPI_Group_translate_ranks", out, 2);
  MPI_Comm_create(dup, some, &created);
  say("MPI_Comm_create", "%d", created == MPI_COMM_NULL);
  if (created != MPI_COMM_NULL) {
    collectives(created, 1);
    MPI_Comm_free(&created);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  MPI_Group_free(&rest);
  MPI_Comm_free(&dup);

  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], more[2], source, dest;
  MPI_Dims_create(size, 2, dims);
  say_ints("MPI_Dims_create", dims, 2);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  MPI_Cartdim_get(cart, &members);
  MPI_Topo_test(cart, &result);
  say("MPI_Topo_test", "%d %d", members, result == MPI_CART);
  MPI_Topo_test(MPI_COMM_WORLD, &result);
  say("MPI_Topo_test", "%d", result == MPI_UNDEFINED);
  MPI_Cart_get(cart, 2, more, out, coords);
  say_ints("MPI_Cart_get", more, 2);
  say("MPI_Cart_get", "%d %d", !!out[0], !!out[1]);
  say_ints("MPI_Cart_get", coords, 2);
  for (int i = 0; i < size; i++) {
    MPI_Cart_coords(cart, i, 2, coords);
    MPI_Cart_rank(cart, coords, &me);
    say("MPI_Cart_coords", "%d %d %d", coords[0], coords[1], me);
  }
  coords[0] = -1, coords[1] = 0;
  MPI_Cart_rank(cart, coords, &me);
  say("MPI_Cart_rank", "%d", me);
  for (int direction = 0; direction < 2; direction++)
    for (int disp = -2; disp <= 2; disp++) {
      MPI_Cart_shift(cart, direction, disp, &source, &dest);
      say("MPI_Cart_shift", "%d %d", plain(source), plain(dest));
    }
  MPI_Cart_shift(cart, 1, 1, &source, &dest);
  double a = value(rank, 0), b = -1;
  MPI_Sendrecv(&a, 1, MPI_DOUBLE, dest, 1, &b, 1, MPI_DOUBLE, source, 1, cart, MPI_STATUS_IGNORE);
  say_doubles("over the border", &b, 1);
  for (int keep = 0; keep < 2; keep++) {
    const int remain[2] = {keep == 0, keep == 1};
    MPI_Cart_sub(cart, remain, &line);
    MPI_Comm_rank(line, &me);
    MPI_Comm_size(line, &members);
    MPI_Cart_get(line, 1, more, out, coords);
    say("MPI_Cart_sub", "%d of %d, %d long, at %d", me, members, more[0], coords[0]);
    MPI_Comm_free(&line);
  }
  MPI_Comm_free(&cart);
}

static void environment(void) {
  int flag, length, version, subversion;
  char text[512]; /* as long as any library's MPI_MAX_PROCESSOR_NAME */
  MPI_Initialized(&flag);
  say("MPI_Initialized", "%d", flag);
  MPI_Finalized(&flag);
  say("MPI_Finalized", "%d", flag);
  MPI_Get_version(&version, &subversion);
  say("MPI_Get_version", "%d", version >= 3);
  MPI_Get_processor_name(text, &length);
  say("MPI_Get_processor_name", "%s %d", text, length == (int)strlen(text));
  const double start = MPI_Wtime();
  say("MPI_Wtime", "%d %d", MPI_Wtime() >= start, MPI_Wtick() > 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  double a = 0;
  const int result = MPI_Send(&a, 1, MPI_DOUBLE, size + 7, 1, MPI_COMM_WORLD);
  int kind;
  MPI_Error_class(result, &kind);
  MPI_Error_string(result, text, &length);
  say("MPI_ERRORS_RETURN", "%d %d", kind == MPI_ERR_RANK, length > 0 && length == (int)strlen(text));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Pcontrol(1, "a phase with a name");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(0);
}

int main(int argc, char** argv) {
  int provided, flag;
  MPI_Initialized(&flag);
  if (flag) return 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  say("MPI_Init_thread", "%d", provided >= MPI_THREAD_FUNNELED);
  environment();
  messages();
  large_messages();
  requests();
  collectives(MPI_COMM_WORLD, 0);
  collectives(MPI_COMM_WORLD, 1);
  operations();
  datatypes();
  communicators();
  MPI_Finalize();
  MPI_Finalized(&flag);
  say("MPI_Finalized", "%d", flag);
  if (used >= sizeof lines - 1 || argc < 2) return 2;
  char path[512];
  snprintf(path, sizeof path, "%s/lines-%d", argv[1], rank);
  FILE* file = fopen(path, "w");
  return file && fwrite(lines, 1, used, file) == used && fclose(file) == 0 ? 0 : 3;
}
