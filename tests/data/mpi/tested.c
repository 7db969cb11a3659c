/* A rank looks once whether its messages are there. If they are not, it sends others first and then waits: with another
 * wait than after a test that found them, with one that it makes in any case, or with one for all that is left. Some
 * ranks are late, others take their time before they look. */
#define _GNU_SOURCE
#include <mpi.h>

#include <time.h>

static int rank, ranks;
static char from[2][64], to[2][64];

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

static void shift(int by, int tag, MPI_Request* requests) {
  MPI_Irecv(from[tag % 2], 64, MPI_CHAR, (rank + ranks - by) % ranks, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(to[tag % 2], 64, MPI_CHAR, (rank + by) % ranks, tag, MPI_COMM_WORLD, &requests[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < 8; step++) {
    MPI_Request first[2], second[2];
    int flag, done, which;
    const int late = (rank + step) % 4 == 0, slow = step % 2;

    if (late) rest();
    shift(1, 0, first);
    if (slow) rest();
    MPI_Testall(2, first, &flag, MPI_STATUSES_IGNORE);
    shift(1, 1, second);
    if (!flag) MPI_Waitall(2, first, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, second, MPI_STATUSES_IGNORE);

    if (late) rest();
    shift(1, 2, first);
    if (slow) rest();
    MPI_Test(&first[0], &flag, MPI_STATUS_IGNORE);
    MPI_Send(to[1], 64, MPI_CHAR, (rank + 1) % ranks, 3, MPI_COMM_WORLD);
    MPI_Wait(&first[0], MPI_STATUS_IGNORE);
    MPI_Recv(from[1], 64, MPI_CHAR, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&first[1], MPI_STATUS_IGNORE);

    if (late) rest();
    shift(1, 4, first);
    if (slow) rest();
    MPI_Testsome(1, first, &done, &which, MPI_STATUSES_IGNORE);
    shift(1, 5, second);
    MPI_Waitall(2, first, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, second, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
