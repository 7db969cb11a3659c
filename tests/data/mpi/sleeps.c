/* Sleeps for ten milliseconds and computes for a while (adds), five times, with a barrier after each. */
#include <mpi.h>
#include <time.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 5; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    for (volatile int sum = 0; sum < 1000000; sum++) continue;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
