/* A small iterative program: exchange of the halo of a ring of stripes, a stencil sweep named "stencil", an allreduce.
 * argv[1]: points in each direction, argv[2]: iterations. */
#include <mpi.h>

#include <stdlib.h>

static double sweep(const double* from, double* to, int n) {
  double grown = 0;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j < n - 1; j++) {
      const double* at = from + i * n + j;
      const double value = 0.25 * (at[-n] + at[n] + at[-1] + at[1]);
      if (value > *at) grown += value;
      to[i * n + j] = value;
    }
  return grown;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argc > 1 ? atoi(argv[1]) : 128, iterations = argc > 2 ? atoi(argv[2]) : 20;
  double *from = malloc(sizeof(double) * (n + 2) * n), *to = calloc((n + 2) * n, sizeof(double));
  for (int i = 0; i < (n + 2) * n; i++) from[i] = i % 7 + rank;
  const int up = (rank + 1) % size, down = (rank + size - 1) % size;
  for (int k = 0; k < iterations; k++) {
    MPI_Request q[4];
    double sum, total, *swap = from;
    MPI_Irecv(from, n, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(from + (n + 1) * n, n, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Isend(from + n, n, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, &q[2]);
    MPI_Isend(from + n * n, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &q[3]);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    MPI_Pcontrol(1, "stencil");
    sum = sweep(from, to, n);
    MPI_Pcontrol(-1, "stencil");
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    from = to;
    to = swap;
  }
  MPI_Finalize();
  free(from);
  free(to);
  return 0;
}
