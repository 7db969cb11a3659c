/* Times cheap MPI calls: MPI_Iprobe on MPI_COMM_SELF, which finds nothing. Prints the mean nanoseconds per call of each
 * of argv[2] batches of argv[1] calls, one a line. Native program of benchmarks/markers_overhead.py. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 10000, batches = argc > 2 ? atoi(argv[2]) : 100;
  int flag;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  for (int batch = 0; batch < batches; batch++) {
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, &status);
    printf("%.3f\n", (MPI_Wtime() - start) / calls * 1e9);
  }
  MPI_Finalize();
  return 0;
}
