/* What no skeleton can be derived from yet; the argument says what: node (a communicator), neighbours. */
#include <mpi.h>
#include <string.h>
int main(int argc, char** argv) {
  int rank, size, whole = 1;
  static double a[64], b[64];
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(argv[1], "node")) MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
  if (!strcmp(argv[1], "neighbours")) MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &whole, 0, &comm);
  for (int i = 0; i < 4; i++) {
    if (!strcmp(argv[1], "neighbours")) MPI_Neighbor_alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, comm);
    MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, comm);
  }
  MPI_Finalize();
}
