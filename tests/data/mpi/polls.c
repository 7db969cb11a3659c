/* Rank 0 polls in every way for messages that rank 1 sends when it finds a file, argv[1]-WAY, which rank 0 makes after
 * 2000 polls. While "computing" is its own label, a phase between two tests is to be told apart. */
#define _GNU_SOURCE
#include <mpi.h>

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static MPI_Request request;
static int done, index_, count;
static MPI_Message message;

static void poll(int way) {
  switch (way) {
    case 0:
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
      break;
    case 2:
      MPI_Testany(1, &request, &index_, &done, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Testsome(1, &request, &count, &index_, MPI_STATUSES_IGNORE);
      done = count > 0;
      break;
    case 4:
      MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
      break;
    case 5:
      MPI_Iprobe(1, way, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
      break;
    case 6:
      MPI_Improbe(1, way, MPI_COMM_WORLD, &done, &message, MPI_STATUS_IGNORE);
      break;
  }
}

int main(int argc, char** argv) {
  double x = 0;
  int rank;
  char go[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int way = 0; way < 8; way++) {
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(go, sizeof go, "%s-%d", argv[1], way);
    if (rank == 1) {
      while (access(go, F_OK) != 0) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
      MPI_Send(&x, 1, MPI_DOUBLE, 0, way, MPI_COMM_WORLD);
      continue;
    }
    if (way < 5 || way == 7) MPI_Irecv(&x, 1, MPI_DOUBLE, 1, way, MPI_COMM_WORLD, &request);
    if (way == 4) MPI_Pcontrol(1, "region");
    done = 0;
    for (long i = 0; !done; i++) {
      if (i == 2000) close(open(go, O_CREAT | O_WRONLY, 0600));
      if (way == 7 && i == 10) MPI_Pcontrol(1, "computing");
      poll(way == 7 ? 0 : way);
      if (way == 7 && i == 10) MPI_Pcontrol(0);
    }
    if (way == 4) MPI_Pcontrol(0);
    if (way == 4) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == 5) MPI_Recv(&x, 1, MPI_DOUBLE, 1, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 6) MPI_Mrecv(&x, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  }
  return MPI_Finalize();
}
