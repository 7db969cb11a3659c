/* Computes for two milliseconds, fifty times, and meets the others after each. Prints how many cores a rank may use. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  printf("cores: %d\n", CPU_COUNT(&cores));
  for (int i = 0; i < 50; i++) {
    for (const double end = now() + 0.002; now() < end;) continue;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
