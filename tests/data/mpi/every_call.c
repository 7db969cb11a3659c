/* Calls (nearly) every operation that the markers library records, with four ranks, and writes beside each call what
 * must be recorded: "operation peer peer2 bytes bytes2 tag requests communicator", one line per call, to
 * <argv[1]>/expected-<rank>. Arguments of EXPECT: operation, peer, peer2, bytes, bytes2, tag, requests, communicator.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* expected;
#define EXPECT(...) expect(__VA_ARGS__)
enum { NONE = -1, ANY = -2, PROC_NULL = -3, N = 10, D = 8 };

static void expect(const char* operation, int peer, int peer2, long bytes, long bytes2, int tag, int requests,
                   int comm) {
  fprintf(expected, "%s %d %d %ld %ld %d %d %d\n", operation, peer, peer2, bytes, bytes2, tag, requests, comm);
}

static int rank, size, right, left;
static double a[64], b[64], c[64];
static MPI_Comm world;

static void point_to_point(void) {
  MPI_Request q[4];
  MPI_Status status, statuses[4];
  MPI_Message message;
  int flag = 0, index, outcount, indices[4];
  char room[4096];
  if (rank % 2 == 0) {
    MPI_Send(a, N, MPI_DOUBLE, right, 1, world), EXPECT("MPI_Send", right, NONE, N * D, 0, 1, 0, 0);
    MPI_Ssend(a, N, MPI_DOUBLE, right, 2, world), EXPECT("MPI_Ssend", right, NONE, N * D, 0, 2, 0, 0);
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(a, N, MPI_DOUBLE, right, 3, world), EXPECT("MPI_Bsend", right, NONE, N * D, 0, 3, 0, 0);
    MPI_Send(a, 3, MPI_INT, right, 4, world), EXPECT("MPI_Send", right, NONE, 12, 0, 4, 0, 0);
  } else {
    MPI_Recv(b, 64, MPI_DOUBLE, left, 1, world, &status), EXPECT("MPI_Recv", left, NONE, 64 * D, 0, 1, 0, 0);
    MPI_Recv(b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
    EXPECT("MPI_Recv", left, NONE, N * D, 0, 2, 0, 0);
    MPI_Probe(MPI_ANY_SOURCE, 3, world, MPI_STATUS_IGNORE), EXPECT("MPI_Probe", left, NONE, 0, 0, 3, 0, 0);
    MPI_Recv(b, N, MPI_DOUBLE, left, 3, world, &status), EXPECT("MPI_Recv", left, NONE, N * D, 0, 3, 0, 0);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &message, &status);
    EXPECT("MPI_Mprobe", left, NONE, 0, 0, 4, 0, 0);
    MPI_Mrecv(b, 5, MPI_INT, &message, &status), EXPECT("MPI_Mrecv", left, NONE, 20, 0, 4, 0, 0);
  }
  MPI_Barrier(world), EXPECT("MPI_Barrier", NONE, NONE, 0, 0, NONE, 0, 0);
  if (rank % 2 == 0) {
    int bytes;
    char* old;
    MPI_Buffer_detach(&old, &bytes);
  }
  MPI_Send(a, 4, MPI_DOUBLE, MPI_PROC_NULL, 5, world), EXPECT("MPI_Send", PROC_NULL, NONE, 32, 0, 5, 0, 0);
  MPI_Irecv(b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 6, world, &q[0]), EXPECT("MPI_Irecv", left, NONE, N * D, 0, 6, 0, 0);
  MPI_Irecv(b + N, N, MPI_DOUBLE, left, 7, world, &q[1]), EXPECT("MPI_Irecv", left, NONE, N * D, 0, 7, 0, 0);
  MPI_Isend(a, N, MPI_DOUBLE, right, 6, world, &q[2]), EXPECT("MPI_Isend", right, NONE, N * D, 0, 6, 0, 0);
  MPI_Issend(a, N, MPI_DOUBLE, right, 7, world, &q[3]), EXPECT("MPI_Issend", right, NONE, N * D, 0, 7, 0, 0);
  MPI_Waitall(4, q, MPI_STATUSES_IGNORE), EXPECT("MPI_Waitall", NONE, NONE, 0, 0, NONE, 4, NONE);
  MPI_Irecv(b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 8, world, &q[0]), EXPECT("MPI_Irecv", left, NONE, N * D, 0, 8, 0, 0);
  MPI_Isend(a, N, MPI_DOUBLE, right, 8, world, &q[1]), EXPECT("MPI_Isend", right, NONE, N * D, 0, 8, 0, 0);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE), EXPECT("MPI_Wait", NONE, NONE, 0, 0, NONE, 1, NONE);
  MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE), EXPECT("MPI_Waitany", NONE, NONE, 0, 0, NONE, 1, NONE);
  MPI_Waitsome(2, q, &outcount, indices, statuses), EXPECT("MPI_Waitsome", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE), EXPECT("MPI_Testall", NONE, NONE, 0, 0, NONE, 2, NONE);
  MPI_Iprobe(left, 99, world, &flag, &status), EXPECT("MPI_Iprobe", left, NONE, 0, 0, 99, 0, 0);
  MPI_Sendrecv(a, 2, MPI_DOUBLE, right, 9, b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 9, world, MPI_STATUS_IGNORE);
  EXPECT("MPI_Sendrecv", right, left, 2 * D, N * D, 9, 0, 0);
  MPI_Sendrecv_replace(a, 2, MPI_DOUBLE, right, 10, left, 10, world, &status);
  EXPECT("MPI_Sendrecv_replace", right, left, 2 * D, 2 * D, 10, 0, 0);
}

static void persistent(void) {
  MPI_Request q[2];
  MPI_Recv_init(b, N, MPI_DOUBLE, left, 11, world, &q[0]), EXPECT("MPI_Recv_init", left, NONE, N * D, 0, 11, 0, 0);
  MPI_Send_init(a, N, MPI_DOUBLE, right, 11, world, &q[1]), EXPECT("MPI_Send_init", right, NONE, N * D, 0, 11, 0, 0);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, q), EXPECT("MPI_Startall", NONE, NONE, 2 * N * D, 0, NONE, 2, NONE);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE), EXPECT("MPI_Waitall", NONE, NONE, 0, 0, NONE, 2, NONE);
  }
  MPI_Start(&q[0]), EXPECT("MPI_Start", left, NONE, N * D, 0, 11, 1, 0);
  MPI_Start(&q[1]), EXPECT("MPI_Start", right, NONE, N * D, 0, 11, 1, 0);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE), EXPECT("MPI_Waitall", NONE, NONE, 0, 0, NONE, 2, NONE);
  for (int i = 0; i < 2; i++) MPI_Request_free(&q[i]), EXPECT("MPI_Request_free", NONE, NONE, 0, 0, NONE, 1, NONE);
}

static void collectives(MPI_Comm comm, int id, int root_in_world) {
  int counts[4] = {1, 2, 3, 4}, displs[4] = {0, 1, 3, 6}, ones[4] = {1, 1, 1, 1};
  int me;
  MPI_Request q;
  MPI_Datatype types[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE};
  int bytes_displs[4] = {0, 8, 24, 48};
  const int root = root_in_world;
  MPI_Comm_rank(comm, &me);
  MPI_Barrier(comm), EXPECT("MPI_Barrier", NONE, NONE, 0, 0, NONE, 0, id);
  MPI_Bcast(a, N, MPI_DOUBLE, 1, comm), EXPECT("MPI_Bcast", root, NONE, N * D, 0, NONE, 0, id);
  MPI_Reduce(a, b, 3, MPI_DOUBLE, MPI_SUM, 1, comm), EXPECT("MPI_Reduce", root, NONE, 24, 0, NONE, 0, id);
  MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_DOUBLE, MPI_MAX, comm);
  EXPECT("MPI_Allreduce", NONE, NONE, 24, 0, NONE, 0, id);
  MPI_Gather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, comm), EXPECT("MPI_Gather", root, NONE, 16, 0, NONE, 0, id);
  MPI_Gatherv(a, me + 1, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, 1, comm);
  EXPECT("MPI_Gatherv", root, NONE, (me + 1) * D, me == 1 ? 80 : 0, NONE, 0, id);
  MPI_Scatter(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, comm), EXPECT("MPI_Scatter", root, NONE, 16, 0, NONE, 0, id);
  MPI_Scatterv(a, counts, displs, MPI_DOUBLE, b, me + 1, MPI_DOUBLE, 1, comm);
  EXPECT("MPI_Scatterv", root, NONE, me == 1 ? 80 : 0, (me + 1) * D, NONE, 0, id);
  MPI_Allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm), EXPECT("MPI_Allgather", NONE, NONE, 16, 0, NONE, 0, id);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_DOUBLE, comm);
  EXPECT("MPI_Allgather", NONE, NONE, 16, 0, NONE, 0, id);
  MPI_Allgatherv(a, me + 1, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm);
  EXPECT("MPI_Allgatherv", NONE, NONE, (me + 1) * D, 80, NONE, 0, id);
  MPI_Alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, comm), EXPECT("MPI_Alltoall", NONE, NONE, 8, 0, NONE, 0, id);
  MPI_Alltoallv(a, ones, displs, MPI_DOUBLE, b, ones, displs, MPI_DOUBLE, comm);
  EXPECT("MPI_Alltoallv", NONE, NONE, 32, 32, NONE, 0, id);
  MPI_Alltoallw(a, ones, bytes_displs, types, b, ones, bytes_displs, types, comm);
  EXPECT("MPI_Alltoallw", NONE, NONE, 32, 32, NONE, 0, id);
  MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, comm);
  EXPECT("MPI_Reduce_scatter", NONE, NONE, 80, 0, NONE, 0, id);
  MPI_Reduce_scatter_block(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
  EXPECT("MPI_Reduce_scatter_block", NONE, NONE, 16, 0, NONE, 0, id);
  MPI_Scan(a, b, 1, MPI_DOUBLE, MPI_SUM, comm), EXPECT("MPI_Scan", NONE, NONE, 8, 0, NONE, 0, id);
  MPI_Exscan(a, b, 1, MPI_DOUBLE, MPI_SUM, comm), EXPECT("MPI_Exscan", NONE, NONE, 8, 0, NONE, 0, id);
  MPI_Iallreduce(a, b, 5, MPI_DOUBLE, MPI_SUM, comm, &q), EXPECT("MPI_Iallreduce", NONE, NONE, 40, 0, NONE, 0, id);
  MPI_Wait(&q, MPI_STATUS_IGNORE), EXPECT("MPI_Wait", NONE, NONE, 0, 0, NONE, 1, NONE);
}

static void topologies(void) {
  MPI_Comm ring, line;
  int dims[2] = {2, 2}, periods[2] = {1, 1}, keep[2] = {0, 1};
  MPI_Cart_create(world, 2, dims, periods, 0, &ring), EXPECT("MPI_Cart_create", NONE, NONE, 0, 0, NONE, 0, 0);
  MPI_Neighbor_alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, ring);
  EXPECT("MPI_Neighbor_alltoall", NONE, NONE, 8, 0, NONE, 0, 4);
  int ones[4] = {1, 1, 1, 1}, displs[4] = {0, 1, 2, 3};
  MPI_Neighbor_alltoallv(a, ones, displs, MPI_DOUBLE, b, ones, displs, MPI_DOUBLE, ring);
  EXPECT("MPI_Neighbor_alltoallv", NONE, NONE, 32, 32, NONE, 0, 4);
  MPI_Cart_sub(ring, keep, &line), EXPECT("MPI_Cart_sub", NONE, NONE, 0, 0, NONE, 0, 4);
  MPI_Bcast(a, 1, MPI_DOUBLE, 1, line), EXPECT("MPI_Bcast", rank / 2 * 2 + 1, NONE, 8, 0, NONE, 0, 5);
  MPI_Comm_free(&line), EXPECT("MPI_Comm_free", NONE, NONE, 0, 0, NONE, 0, 5);
  MPI_Comm_free(&ring), EXPECT("MPI_Comm_free", NONE, NONE, 0, 0, NONE, 0, 4);
}

static void one_sided(void) {
  MPI_Win win;
  MPI_Win_create(b, sizeof b, D, MPI_INFO_NULL, world, &win);
  EXPECT("MPI_Win_create", NONE, NONE, sizeof b, 0, NONE, 0, 0);
  MPI_Win_fence(0, win), EXPECT("MPI_Win_fence", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Put(a, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, win), EXPECT("MPI_Put", right, NONE, 16, 0, NONE, 0, NONE);
  MPI_Win_fence(0, win), EXPECT("MPI_Win_fence", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win), EXPECT("MPI_Win_lock", left, NONE, 0, 0, NONE, 0, NONE);
  MPI_Get(a, 3, MPI_DOUBLE, left, 0, 3, MPI_DOUBLE, win), EXPECT("MPI_Get", left, NONE, 24, 0, NONE, 0, NONE);
  MPI_Win_unlock(left, win), EXPECT("MPI_Win_unlock", left, NONE, 0, 0, NONE, 0, NONE);
  /* a window of the ranks in reverse order, which pairs of ranks open to each other */
  MPI_Comm reversed;
  MPI_Win second;
  MPI_Group all, other;
  int them = 3 - (rank ^ 1);
  MPI_Comm_split(world, 0, -rank, &reversed), EXPECT("MPI_Comm_split", NONE, NONE, 0, 0, NONE, 0, 0);
  MPI_Win_create(c, sizeof c, D, MPI_INFO_NULL, reversed, &second);
  EXPECT("MPI_Win_create", NONE, NONE, sizeof c, 0, NONE, 0, 6);
  MPI_Comm_group(reversed, &all);
  MPI_Group_incl(all, 1, &them, &other);
  MPI_Win_post(other, 0, second), EXPECT("MPI_Win_post", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Win_start(other, 0, second), EXPECT("MPI_Win_start", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Put(a, 2, MPI_DOUBLE, them, 0, 2, MPI_DOUBLE, second), EXPECT("MPI_Put", rank ^ 1, NONE, 16, 0, NONE, 0, NONE);
  MPI_Win_complete(second), EXPECT("MPI_Win_complete", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Win_wait(second), EXPECT("MPI_Win_wait", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Win_free(&win), EXPECT("MPI_Win_free", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Win_free(&second), EXPECT("MPI_Win_free", NONE, NONE, 0, 0, NONE, 0, NONE);
  MPI_Comm_free(&reversed), EXPECT("MPI_Comm_free", NONE, NONE, 0, 0, NONE, 0, 6);
}

static void files(const char* folder) {
  MPI_File file;
  char path[1024];
  snprintf(path, sizeof path, "%s/shared.bin", folder);
  MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  EXPECT("MPI_File_open", NONE, NONE, 0, 0, NONE, 0, 0);
  MPI_File_write_at_all(file, rank * 80, a, N, MPI_DOUBLE, MPI_STATUS_IGNORE);
  EXPECT("MPI_File_write_at_all", NONE, NONE, N * D, 0, NONE, 0, NONE);
  MPI_File_close(&file), EXPECT("MPI_File_close", NONE, NONE, 0, 0, NONE, 0, NONE);
}

int main(int argc, char** argv) {
  char path[1024];
  world = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  if (argc < 2 || size != 4) MPI_Abort(world, 2);
  snprintf(path, sizeof path, "%s/expected-%d", argv[1], rank);
  expected = fopen(path, "w");
  if (!expected) MPI_Abort(world, 3);
  EXPECT("MPI_Init", NONE, NONE, 0, 0, NONE, 0, NONE);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  point_to_point();
  persistent();
  collectives(world, 0, 1);
  MPI_Comm reversed, copy;
  MPI_Comm_split(world, 0, -rank, &reversed), EXPECT("MPI_Comm_split", NONE, NONE, 0, 0, NONE, 0, 0);
  collectives(reversed, 2, 2);
  MPI_Comm_dup(reversed, &copy), EXPECT("MPI_Comm_dup", NONE, NONE, 0, 0, NONE, 0, 2);
  collectives(copy, 3, 2);
  MPI_Comm_free(&copy), EXPECT("MPI_Comm_free", NONE, NONE, 0, 0, NONE, 0, 3);
  MPI_Barrier(MPI_COMM_SELF), EXPECT("MPI_Barrier", NONE, NONE, 0, 0, NONE, 0, 1);
  topologies();
  one_sided();
  files(argv[1]);
  EXPECT("MPI_Finalize", NONE, NONE, 0, 0, NONE, 0, NONE);
  fclose(expected);
  MPI_Finalize();
  return 0;
}
