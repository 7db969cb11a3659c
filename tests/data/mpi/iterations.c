/* Sets of iterations, as of a benchmark that is timed: loops in a loop, a set of another length, and a request that
 * stays open over the end of an iteration. */
#include <mpi.h>

static int rank, ranks;
static MPI_Request open = MPI_REQUEST_NULL;

static void exchange(int bytes) {
  static char sent[4096], received[4096];
  MPI_Request requests[2];
  MPI_Irecv(received, bytes, MPI_CHAR, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, bytes, MPI_CHAR, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void step(MPI_Comm all) {
  static char late[64];
  double norm = 1, sum;
  for (int level = 0; level < 4; level++) exchange(512 >> level);
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  MPI_Irecv(late, 64, MPI_CHAR, (rank + 1) % ranks, 2, MPI_COMM_WORLD, &open);
  MPI_Send(late, 64, MPI_CHAR, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD);
  MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm all;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  for (int warm = 0; warm < 5; warm++) step(all);
  for (int set = 0; set < 7; set++) {
    for (int i = 0; i < 40; i++) step(all);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int set = 0; set < 4; set++) {
    for (int i = 0; i < 25; i++) step(all);
    for (int i = 0; i < 3; i++) exchange(2048);
    MPI_Bcast(&ranks, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  MPI_Comm_free(&all);
  MPI_Finalize();
  return 0;
}
