/* Rank argv[1] comes to a message argv[2] seconds late; all others wait for it, twice. */
#include <mpi.h>

#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int late = argc > 1 ? atoi(argv[1]) : 0;
  for (int turn = 0; turn < 2; turn++) {
    if (rank == late) {
      sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 5);
      for (int peer = 0; peer < size; peer++)
        if (peer != late) MPI_Send(&turn, 1, MPI_INT, peer, 7, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&value, 1, MPI_INT, late, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Finalize();
  return value != 1 && rank != late;
}
