/* Messages between ranks of two nodes, half of the ranks on each, in every way that requests complete. Each rank counts
 * the bytes that it sends to and receives from the other node, and prints them with a sum of what has arrived:
 * "moved RANK BYTES", "sum RANK VALUE". */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, MOST = 64 };
static int rank, size, half, other, mate;
static long moved;
static double sum;
static double sent[MOST * N], got[MOST * N];

static int outside(int peer) { return peer / half != rank / half; }

/* `n` values came from `peer`, as many went there. */
static void note(int peer, long n) {
  if (outside(peer)) moved += 2 * n * (long)sizeof(double);
  for (long i = 0; i < n; i++) sum += got[i] * (double)(1 + i % 7);
}

static void point_to_point(int peer) {
  MPI_Request q[2];
  MPI_Status status;
  MPI_Message message;
  int flag = 0, index;
  /* Tags of its own for each pair: a receive from any source must not take what is for the next one. */
  const int tag = 10 * (rank ^ peer);
  if (rank < peer) {
    MPI_Send(sent, N, MPI_DOUBLE, peer, tag + 1, MPI_COMM_WORLD);
    MPI_Recv(got, N, MPI_DOUBLE, peer, tag + 1, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(got, N, MPI_DOUBLE, MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(sent, N, MPI_DOUBLE, peer, tag + 1, MPI_COMM_WORLD);
  }
  note(peer, N);
  MPI_Irecv(got, N, MPI_DOUBLE, peer, tag + 2, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(sent, N, MPI_DOUBLE, peer, tag + 2, MPI_COMM_WORLD, &q[1]);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  note(peer, N);
  MPI_Irecv(got, N, MPI_DOUBLE, MPI_ANY_SOURCE, tag + 3, MPI_COMM_WORLD, &q[0]);
  MPI_Isend(sent, N, MPI_DOUBLE, peer, tag + 3, MPI_COMM_WORLD, &q[1]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
  note(peer, N);
  MPI_Irecv(got, N, MPI_DOUBLE, peer, tag + 4, MPI_COMM_WORLD, &q[0]);
  MPI_Send(sent, N, MPI_DOUBLE, peer, tag + 4, MPI_COMM_WORLD);
  while (!flag) MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
  note(peer, N);
  MPI_Sendrecv(sent, N, MPI_DOUBLE, peer, tag + 5, got, N, MPI_DOUBLE, peer, tag + 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  note(peer, N);
  MPI_Isend(sent, N, MPI_DOUBLE, peer, tag + 6, MPI_COMM_WORLD, &q[0]);
  MPI_Mprobe(peer, tag + 6, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(got, N, MPI_DOUBLE, &message, &status);
  MPI_Wait(&q[0], &status);
  note(peer, N);
  MPI_Recv_init(got, N, MPI_DOUBLE, peer, tag + 7, MPI_COMM_WORLD, &q[0]);
  MPI_Send_init(sent, N, MPI_DOUBLE, peer, tag + 7, MPI_COMM_WORLD, &q[1]);
  for (int i = 0; i < 2; i++) {
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    note(peer, N);
  }
  MPI_Request_free(&q[0]);
  MPI_Request_free(&q[1]);
}

static void collectives(void) {
  const long block = N * (long)sizeof(double);
  MPI_Comm own;
  MPI_Allreduce(sent, got, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  moved += 2 * block;
  MPI_Bcast(got, N, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* the root's data goes out, the others' comes in */
  moved += block;
  MPI_Alltoall(sent, N, MPI_DOUBLE, got, N, MPI_DOUBLE, MPI_COMM_WORLD);
  moved += 2 * half * block;
  MPI_Allgather(sent, N, MPI_DOUBLE, got, N, MPI_DOUBLE, MPI_COMM_WORLD);
  moved += block + half * block;
  MPI_Gather(sent, N, MPI_DOUBLE, got, N, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
  moved += rank == size - 1 ? half * block : block;
  /* among the ranks of one node nothing leaves it */
  MPI_Comm_split(MPI_COMM_WORLD, rank / half, rank, &own);
  MPI_Allreduce(sent, got, N, MPI_DOUBLE, MPI_SUM, own);
  MPI_Comm_free(&own);
  for (long i = 0; i < N; i++) sum += got[i];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  half = size / 2;
  other = (rank + half) % size;
  mate = rank ^ 1;
  for (int i = 0; i < size * N; i++) sent[i] = rank + 1e-3 * i;
  point_to_point(other);
  point_to_point(mate);
  collectives();
  MPI_Barrier(MPI_COMM_WORLD);
  printf("moved %d %ld\nsum %d %.6f\n", rank, moved, rank, sum);
  MPI_Finalize();
  return 0;
}
