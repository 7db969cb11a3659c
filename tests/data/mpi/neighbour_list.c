// A halo exchange with a list of neighbours (up to 26, corners included), as in HPCG: receives posted, sends one after
// the other, and a call of MPI_Wait for each receive. How many there are differs from rank to rank.
#include <mpi.h>
#include <stdlib.h>

enum { kNeighbours = 26, kSteps = 5 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, rank, extents[3] = {0, 0, 0}, count = 0, neighbours[kNeighbours], sizes[kNeighbours];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 3, extents);
  const int n = argc > 1 ? atoi(argv[1]) : 4;
  const int x = rank % extents[0], y = rank / extents[0] % extents[1], z = rank / extents[0] / extents[1];
  for (int dz = -1; dz <= 1; dz++) {
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const int a = x + dx, b = y + dy, c = z + dz;
        if ((!dx && !dy && !dz) || a < 0 || b < 0 || c < 0 || a >= extents[0] || b >= extents[1] || c >= extents[2])
          continue;
        neighbours[count] = (c * extents[1] + b) * extents[0] + a;
        sizes[count++] = (dx ? 1 : n) * (dy ? 1 : n) * (dz ? 1 : n);
      }
    }
  }
  double *from = calloc(kNeighbours * n * n, sizeof(double)), *to = calloc(kNeighbours * n * n, sizeof(double)),
         sum = 0;
  MPI_Request requests[kNeighbours];
  // As in HPCG, a rank asks who its neighbours are, and hears from them in any order.
  int asked[kNeighbours];
  for (int i = 0; i < count; i++) {
    MPI_Irecv(&asked[i], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < count; i++) MPI_Send(&rank, 1, MPI_INT, neighbours[i], 7, MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  for (int step = 0; step < kSteps; step++) {
    for (int i = 0; i < count; i++) {
      MPI_Irecv(from + i * n * n, sizes[i], MPI_DOUBLE, neighbours[i], 99, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < count; i++) MPI_Send(to + i * n * n, sizes[i], MPI_DOUBLE, neighbours[i], 99, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < n * n; i++) to[i] += from[i] + step;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
