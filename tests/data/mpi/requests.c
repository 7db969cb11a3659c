/* Small sends are complete at once, and MPICH gives all of them one handle: the rank waits for them in another order
 * than that of the calls, each in its variable, in parts, by a test loop and by a copy of the handle. Two ranks. */
#include <mpi.h>

#include <stdio.h>

enum { MANY = 300 };

int main(int argc, char** argv) {
  static MPI_Request requests[MANY], copies[2];
  static int values[MANY];
  int rank, flag = 0, done, index, indices[MANY];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  for (int i = 0; i < MANY; i++)
    MPI_Irecv(&values[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]); /* 0 to 299 */
  MPI_Barrier(MPI_COMM_WORLD);
  static MPI_Request sends[MANY];
  for (int i = 0; i < MANY; i++) MPI_Isend(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD, &sends[i]); /* 300 to 599 */
  MPI_Wait(&sends[7], MPI_STATUS_IGNORE);
  MPI_Waitall(2, &sends[4], MPI_STATUSES_IGNORE);
  MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE); /* 4, 5 and 7 are null by now */
  while (!flag) MPI_Test(&requests[MANY - 1], &flag, MPI_STATUS_IGNORE);
  MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
  MPI_Irecv(&values[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]); /* 600 */
  MPI_Irecv(&values[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]); /* 601 */
  copies[0] = requests[1], copies[1] = requests[0];
  MPI_Send(&rank, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
  MPI_Waitany(2, copies, &index, MPI_STATUS_IGNORE);
  MPI_Send(&rank, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
  MPI_Waitsome(2, copies, &done, indices, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
