/* Communication that follows the data, as of adaptive meshes: on a grid of two axes, pairs of neighbours exchange
 * messages if a hash of both says so, as many as another says, of sizes that a third says. Every rank has a sequence of
 * its own. */
#include <mpi.h>
#include <stdlib.h>

#define MOST 64

static unsigned hash(unsigned a, unsigned b, unsigned what) {
  unsigned x = (a < b ? a * 7919u + b : b * 7919u + a) * 2654435761u + what * 40503u;
  x ^= x >> 15;
  x *= 2246822519u;
  return x ^ (x >> 13);
}

int main(int argc, char** argv) {
  int rank, size, rows = 1, steps = argc > 1 ? atoi(argv[1]) : 5;
  static char out[MOST][1 << 14], in[MOST][1 << 14];
  MPI_Request requests[2 * MOST];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i * i <= size; i++) {
    if (size % i == 0) rows = i;
  }
  int columns = size / rows;
  for (int step = 0; step < steps; step++) {
    int made = 0;
    for (int turn = 0; turn < 2; turn++) { /* receives, then sends */
      int number = 0;
      for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
          int y = rank / columns + dy, x = rank % columns + dx, other = y * columns + x;
          if (other == rank || x < 0 || y < 0 || x >= columns || y >= rows || hash(rank, other, 1) % 16 == 0) continue;
          for (unsigned i = 0; i < 3 + hash(rank, other, 2) % 2; i++, number++) {
            int bytes = 4000 + (int)(hash(rank, other, 3 + i) % 4000);
            if (turn == 0) MPI_Irecv(in[number], bytes, MPI_BYTE, other, (int)i, MPI_COMM_WORLD, &requests[made++]);
            if (turn == 1) MPI_Isend(out[number], bytes, MPI_BYTE, other, (int)i, MPI_COMM_WORLD, &requests[made++]);
          }
        }
      }
    }
    for (int i = 0, index; i < made; i++) MPI_Waitany(made, requests, &index, MPI_STATUS_IGNORE);
    double own = made, sum;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
