/* Receives posted ahead, as by programs that never know whether more comes: those left at the end are cancelled. Their
 * waits are of every kind, with and without a status. One message came before it was cancelled. */
#include <mpi.h>

enum { AHEAD = 3, STEPS = 5 };

static int rank, ranks, values[AHEAD];
static MPI_Request open[AHEAD];

static void post(int i) { MPI_Irecv(&values[i], 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &open[i]); }

static void send(int tag) { MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD); }

int main(int argc, char** argv) {
  int flag = 0, index, late;
  MPI_Request anyone, again;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Irecv(&late, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &anyone);
  for (int i = 0; i < AHEAD; i++) post(i);
  for (int step = 0; step < STEPS; step++) {
    send(1);
    MPI_Wait(&open[step % AHEAD], MPI_STATUS_IGNORE);
    post(step % AHEAD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Recv_init(&late, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, &again);
  MPI_Start(&again);
  /* messages of one sender do not overtake: the first is there when the second one is */
  send(1);
  send(4);
  MPI_Recv(&late, 1, MPI_INT, (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Cancel(&anyone);
  MPI_Cancel(&again);
  for (int i = 0; i < AHEAD; i++) MPI_Cancel(&open[i]);
#ifndef OPEN_MPI /* which crashes */
  MPI_Cancel(&open[0]);
#endif
  MPI_Wait(&again, MPI_STATUS_IGNORE);
  MPI_Request_free(&again);
  MPI_Request_free(&anyone);
  MPI_Waitall(2, open, MPI_STATUSES_IGNORE);
  while (!flag) MPI_Testany(1, &open[2], &index, &flag, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
