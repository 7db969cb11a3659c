/* Collectives with counts: parts of a range of all ranks, and the transposes of a matrix whose rows and columns are
   divided among the lines of a grid. The argument is the number of rows. */
#include <mpi.h>
#include <stdlib.h>

static int part(int cells, int parts, int which) { return cells / parts + (which < cells % parts); }

int main(int argc, char** argv) {
  const int cells = argc > 1 ? atoi(argv[1]) : 50;
  int ranks, rank, extents[2] = {0, 0}, periods[2] = {1, 1}, place[2];
  const int second_axis[2] = {0, 1};
  int counts[128], starts[128], even[128], far[128];
  char* in = calloc(1, 1 << 20);
  char* out = calloc(1, 1 << 20);
  MPI_Comm grid, row;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 2, extents);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periods, 0, &grid);
  MPI_Cart_coords(grid, rank, 2, place);
  MPI_Cart_sub(grid, second_axis, &row);
  for (int i = 0; i < 4; ++i) {
    for (int k = 0, start = 0; k < ranks; ++k) {
      counts[k] = 8 * part(cells, ranks, k);
      starts[k] = start;
      start += counts[k];
      even[k] = 64;
      far[k] = 64 * k;
    }
    MPI_Allgatherv(in, counts[rank], MPI_CHAR, out, counts, starts, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Gatherv(in, counts[rank], MPI_CHAR, out, counts, starts, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Scatterv(in, counts, starts, MPI_CHAR, out, counts[rank], MPI_CHAR, ranks - 1, MPI_COMM_WORLD);
    MPI_Reduce_scatter(in, out, counts, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    MPI_Alltoallv(in, even, far, MPI_CHAR, out, even, far, MPI_CHAR, MPI_COMM_WORLD);
    for (int k = 0, start = 0; k < extents[1]; ++k) {
      counts[k] = 8 * part(cells, extents[1], place[1]) * part(cells, extents[1], k);
      starts[k] = start;
      start += counts[k];
    }
    MPI_Alltoallv(in, counts, starts, MPI_CHAR, out, counts, starts, MPI_CHAR, row);
  }
  MPI_Finalize();
}
