/* What bridge_calls.c and bridge_objects.c share. They make every call that the bridge covers, with results that do not
 * depend on time: each rank writes what it got to <argv[1]>/lines-<rank>, one line per call, and the lines must be the
 * same with plain MPI and through the bridge. Any number of ranks from 2 to 16. */
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

static inline void say_ints(const char* call, const int* values, int count) {
  used += (size_t)snprintf(lines + used, sizeof lines - used, "r%d %s", rank, call);
  for (int i = 0; i < count; i++) used += (size_t)snprintf(lines + used, sizeof lines - used, " %d", values[i]);
  used += (size_t)snprintf(lines + used, sizeof lines - used, "\n");
}

/* MPI_ANY_SOURCE and the like have values of their own in every library. */
static int plain(int source) { return source == MPI_ANY_SOURCE ? -1001 : source == MPI_PROC_NULL ? -1003 : source; }

static inline void say_status(const char* call, const MPI_Status* status, MPI_Datatype type) {
  int count;
  MPI_Get_count(status, type, &count);
  say(call, "source %d tag %d count %d", plain(status->MPI_SOURCE),
      status->MPI_TAG == MPI_ANY_TAG ? -1002 : status->MPI_TAG, count == MPI_UNDEFINED ? -1004 : count);
}

static double value(int who, int index) { return 100.0 * who + index; }

static inline void fill(double* a, int count) {
  for (int i = 0; i < count; i++) a[i] = value(rank, i);
}

static int begin(int argc, char** argv) {
  int provided, flag;
  MPI_Initialized(&flag);
  if (flag || argc < 2) return 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  say("MPI_Init_thread", "%d", provided >= MPI_THREAD_FUNNELED);
  return 1;
}

/* Ends MPI and writes the lines; returns the program's exit code. */
static int end(const char* folder) {
  int flag;
  char path[512];
  MPI_Finalize();
  MPI_Finalized(&flag);
  say("MPI_Finalized", "%d", flag);
  if (used >= sizeof lines - 1) return 2;
  snprintf(path, sizeof path, "%s/lines-%d", folder, rank);
  FILE* file = fopen(path, "w");
  return file && fwrite(lines, 1, used, file) == used && fclose(file) == 0 ? 0 : 3;
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
