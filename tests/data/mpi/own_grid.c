/* A periodic halo on a grid that the program chooses itself: as MPI_Dims_create, but with the axes the other way round
 * where the number of ranks is a multiple of 12 or of 10. No rule has such grids. */
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, size, d[3] = {0, 0, 0}, on[3] = {1, 1, 1}, a, b;
  double s[10] = {0}, r[10];
  MPI_Comm cart;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 3, d);
  if (size % 12 == 0 || size % 10 == 0) {
    int t = d[0];
    d[0] = d[2];
    d[2] = t;
  }
  MPI_Cart_create(MPI_COMM_WORLD, 3, d, on, 0, &cart);
  for (int i = 0; i < 6; i++) {
    for (int k = 0; k < 3; k++) {
      MPI_Cart_shift(cart, k, 1, &a, &b);
      MPI_Sendrecv(s, 10, MPI_DOUBLE, b, 0, r, 10, MPI_DOUBLE, a, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(s, r, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
