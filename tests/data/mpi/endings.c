/* Ends in the way that argv[1] names: finalize, crash (null pointer), exit (without MPI_Finalize), term, abort. With
 * "wild", MPI_Pcontrol is called in every way that other tools know, with "warm" it marks warm-up. Ranks other than 0
 * only wait. */
#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  volatile int* nowhere = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 5; i++) {
    MPI_Pcontrol(1, "work");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const char* way = argc > 1 ? argv[1] : "finalize";
  if (strcmp(way, "wild") == 0) {
    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    MPI_Pcontrol(-1);
    MPI_Pcontrol(2, 3.0);
    MPI_Pcontrol(1, (void*)1);
    MPI_Pcontrol(1, (void*)-1L);
    MPI_Pcontrol(1, "");
    MPI_Pcontrol(1, "not\nprintable");
    MPI_Barrier(MPI_COMM_WORLD); /* whatever the two levels without a string found */
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD); /* no phase */
    MPI_Pcontrol(1, "first");
    MPI_Pcontrol(1, "last");
    MPI_Barrier(MPI_COMM_WORLD); /* last */
    MPI_Barrier(MPI_COMM_WORLD); /* last, inherited */
    MPI_Pcontrol(-1, "last");
    MPI_Barrier(MPI_COMM_WORLD); /* first, inherited */
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD); /* no phase */
  } else if (strcmp(way, "warm") == 0) {
    MPI_Pcontrol(0);
    MPI_Pcontrol(1, "warm-up");
    MPI_Pcontrol(1, "work");
    MPI_Barrier(MPI_COMM_WORLD); /* warm-up */
    MPI_Barrier(MPI_COMM_WORLD); /* warm-up */
    MPI_Pcontrol(-1, "work");
    MPI_Pcontrol(-1, "warm-up");
    MPI_Barrier(MPI_COMM_WORLD); /* warm-up: it ended here */
    MPI_Pcontrol(1, "work");
    MPI_Barrier(MPI_COMM_WORLD); /* not */
  } else if (rank == 0 && strcmp(way, "crash") == 0) {
    return *nowhere;
  } else if (rank == 0 && strcmp(way, "exit") == 0) {
    exit(0);
  } else if (rank == 0 && strcmp(way, "term") == 0) {
    raise(SIGTERM);
  } else if (rank == 0 && strcmp(way, "abort") == 0) {
    MPI_Abort(MPI_COMM_WORLD, 7);
  }
  MPI_Finalize();
  return 0;
}
