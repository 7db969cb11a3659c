/* Each rank computes with all of its threads, argv[1] phases of some milliseconds each, a barrier after each one. The
 * first phase starts the threads. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int phases = argc > 1 ? atoi(argv[1]) : 10;
  double sum = 0;
  MPI_Init(&argc, &argv);
  for (int phase = 0; phase < phases; phase++) {
    MPI_Pcontrol(1, "work");
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 6000000; i++) sum += 1.0 / (i + 1.0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
  }
  MPI_Finalize();
  return sum < 0;
}
