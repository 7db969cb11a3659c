/* Loops over bits as in the NPB CG: sums in rows of a matrix of ranks, an exchange with the transposed rank, a barrier
 * by dissemination, and blocks of twice the size each turn. Takes powers of two. */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks;
static char sent[1 << 16], received[1 << 16];

// Each use is a call site of its own.
#define EXCHANGE(peer, bytes, tag)                                             \
  do {                                                                         \
    MPI_Request request;                                                       \
    MPI_Irecv(received, bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD, &request); \
    MPI_Send(sent, bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD);                \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
  } while (0)

static void barrier(void) {
  for (int step = 1; step < ranks; step *= 2)
    MPI_Sendrecv(sent, 1, MPI_CHAR, (rank + step) % ranks, 7, received, 1, MPI_CHAR, (rank - step + ranks) % ranks, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks & (ranks - 1)) {
    if (rank == 0) fprintf(stderr, "the number of ranks must be a power of two\n");
    MPI_Barrier(MPI_COMM_WORLD);  // nobody ends the job before that is said
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rows = 1;
  while (4 * rows * rows <= ranks) rows *= 2;
  int columns = ranks / rows, wide = columns / rows;
  int row = rank / columns, column = rank % columns;
  int transposed = wide * (rank / wide % rows * rows + rank / wide / rows) + rank % wide;
  for (int iteration = 0; iteration < 5; iteration++) {
    int level = 1;
    for (int half = columns / 2; half > 0; half /= 2) {
      EXCHANGE(row * columns + (column ^ half), 512, level);
      level++;
    }
    for (int bit = 1; bit < columns; bit *= 2) {
      level--;
      EXCHANGE(row * columns + (column ^ bit), 8 * bit, level);
    }
    EXCHANGE(transposed, 4096, 1);
    barrier();
  }
  MPI_Finalize();
  return 0;
}
