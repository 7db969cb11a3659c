/* Sends along both axes of a periodic grid what has left each part of a domain: sizes that depend on load, and change
 * every second iteration. argv[1]: bytes of an edge of the whole domain, argv[2]: iterations. */
#include <mpi.h>

#include <stdint.h>
#include <stdlib.h>

/* From 0.97 to 1.03. */
static double noise(uint64_t rank, uint64_t axis, uint64_t step, uint64_t size) {
  uint64_t x = ((rank * 8 + axis) * 1024 + step) * 4096 + size + 1;
  for (int i = 0; i < 3; i++) {
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15u;
  }
  return 0.97 + 0.06 * (double)(x >> 11) * 0x1p-53;
}

int main(int argc, char** argv) {
  int rank, size, extents[2] = {0, 0}, around[2] = {1, 1};
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  const int edge = argc > 1 ? atoi(argv[1]) : 240000, iterations = argc > 2 ? atoi(argv[2]) : 6;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, extents);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, around, 0, &grid);
  char *out = calloc(2 * edge, 1), *in = malloc(2 * edge);
  double sum = 0, total = 0;
  for (int step = 0; step < iterations; step++) {
    for (int axis = 0; axis < 2; axis++) {
      int from, to, incoming;
      MPI_Request request;
      MPI_Cart_shift(grid, axis, 1, &from, &to);
      if (extents[axis] == 1) continue;
      int leaving = (int)(edge / extents[1 - axis] * noise(rank, axis, step / 2, size));
      MPI_Sendrecv(&leaving, 1, MPI_INT, to, 0, &incoming, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Irecv(in, incoming, MPI_BYTE, from, 1, MPI_COMM_WORLD, &request);
      MPI_Send(out, leaving, MPI_BYTE, to, 1, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(1, "move");
    for (int i = 0; i < edge; i++) sum += (out[i] = (char)(out[i] + in[i % 7] + step));
    MPI_Pcontrol(-1, "move");
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  free(out);
  free(in);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
