/* Half a round trip between two ranks, in the layout of osu_latency: the fastest of many, because other work on a host
 * only ever adds time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 22, BATCHES = 40 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* buffer = calloc(LARGEST, 1);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) printf("# MPI Latency Test\n# Size          Latency (us)\n");
  for (int size = 0; size <= LARGEST; size = size == 0 ? 1 : 2 * size) {
    const int rounds = size < 65536 ? 200 : 20;
    double best = 1e9;
    for (int batch = 0; batch < BATCHES; ++batch) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (int round = 0; round < rounds; ++round) {
        if (rank == 0) {
          MPI_Send(buffer, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
          MPI_Recv(buffer, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
          MPI_Recv(buffer, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          MPI_Send(buffer, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        }
      }
      const double took = (MPI_Wtime() - start) / rounds / 2;
      if (took < best) best = took;
    }
    if (rank == 0) printf("%-10d %14.3f\n", size, 1e6 * best);
  }
  free(buffer);
  MPI_Finalize();
  return 0;
}
