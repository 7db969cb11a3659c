// A halo exchange of a square problem whose rows the ranks divide. The side is in a file: divided_problem FILE.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, rank, side = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file || fscanf(file, "%d", &side) != 1 || side % ranks) {
    fprintf(stderr, "no file with a side that %d ranks divide\n", ranks);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  fclose(file);
  const int rows = side / ranks;
  const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double* field = calloc((size_t)(rows + 2) * side, sizeof(double));
  double sum = 0;
  for (int step = 0; step < 6; step++) {
    MPI_Sendrecv(field + (size_t)rows * side, side, MPI_DOUBLE, down, 1, field, side, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(field + side, side, MPI_DOUBLE, up, 2, field + (size_t)(rows + 1) * side, side, MPI_DOUBLE, down, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = side; i < (rows + 1) * side; i++) {
      field[i] += 0.25 * (field[i - side] + field[i + side]) + i;
      sum += field[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
