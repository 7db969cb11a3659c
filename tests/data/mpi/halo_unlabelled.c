/* A program without labels: exchanges on a grid of ranks that wraps round in one direction, a message along the other,
 * a sum. Arguments: numbers in a message, iterations. */
#include <mpi.h>

#include <stdlib.h>

static double work(int amount) {
  volatile double sum = 0;
  for (int i = 0; i < amount; i++) sum += i * 1e-9;
  return sum;
}

int main(int argc, char** argv) {
  int ranks, dims[2] = {0, 0}, periods[2] = {0, 1}, up, down, left, right;
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int size = atoi(argv[1]), iterations = atoi(argv[2]);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  double *sent = calloc(2 * size, sizeof(double)), *received = calloc(2 * size, sizeof(double));
  for (int i = 0; i < iterations; i++) {
    MPI_Request requests[2];
    int done = 0;
    MPI_Irecv(received, size, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, size, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    while (!done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    double local = work(500 * size), sum;
    if (up != MPI_PROC_NULL) MPI_Send(sent, 2 * size, MPI_DOUBLE, up, 2, MPI_COMM_WORLD);
    if (down != MPI_PROC_NULL) MPI_Recv(received, 2 * size, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    local += work(200 * size);
    MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
