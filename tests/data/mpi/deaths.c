/* All ranks say that they begin; then rank 1 ends in the way that argv[1] names: segv, kill, abort, exit (3, without
 * MPI_Finalize), early (4, before MPI_Init), late (5, after MPI_Finalize), all (every rank by a signal). The others
 * wait for it, without end where it does not call MPI_Finalize. */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* way = argv[1];
  const char* number = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  int rank;
  if (strcmp(way, "early") == 0 && number && atoi(number) == 1) {
    fprintf(stderr, "rank 1 finds no input file\n");
    exit(4);
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d begins\n", rank);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  sleep(1); /* for the launcher to pass the lines on */
  if (strcmp(way, "all") == 0) raise(SIGFPE);
  if (rank == 1) {
    fprintf(stderr, "rank 1 is about to end\n");
    if (strcmp(way, "segv") == 0) raise(SIGSEGV);
    if (strcmp(way, "kill") == 0) raise(SIGKILL);
    if (strcmp(way, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(way, "exit") == 0) exit(3);
  }
  if (strcmp(way, "late") == 0) {
    MPI_Finalize();
    return rank == 1 ? 5 : 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  sleep(1000);
  return 0;
}
