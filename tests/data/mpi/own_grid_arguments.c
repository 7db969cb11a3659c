// A halo exchange on a grid of ranks that the arguments state, or without arguments the file stencil.in: ROWS COLUMNS
// CELLS, with the cells of a side of the whole array. It refuses a grid that is not one of its ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int rows = 0, columns = 0, side = 0;
  if (argc > 3) {
    rows = atoi(argv[1]), columns = atoi(argv[2]), side = atoi(argv[3]);
  } else {
    FILE* file = fopen("stencil.in", "r");
    if (!file || fscanf(file, "rows %d columns %d cells %d", &rows, &columns, &side) != 3) {
      fprintf(stderr, "no stencil.in with rows, columns and cells\n");
      MPI_Abort(MPI_COMM_WORLD, 4);
    }
    fclose(file);
  }
  const int cells = side / columns;
  if (rows * columns != ranks) {
    fprintf(stderr, "%d x %d is not %d\n", rows, columns, ranks);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  const int row = rank / columns;
  const int up = row > 0 ? rank - columns : MPI_PROC_NULL, down = row < rows - 1 ? rank + columns : MPI_PROC_NULL;
  double* field = calloc(3 * (size_t)cells, sizeof(double));
  double sum = 0;
  for (int step = 0; step < 6; step++) {
    MPI_Sendrecv(field + cells, cells, MPI_DOUBLE, down, 1, field, cells, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(field + cells, cells, MPI_DOUBLE, up, 2, field + 2 * cells, cells, MPI_DOUBLE, down, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < cells * cells; i++) sum += 0.5 * (field[i % cells] + field[2 * cells + i % cells]) + i;
    for (int i = 0; i < cells; i++) field[cells + i] = sum / (i + 1);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
