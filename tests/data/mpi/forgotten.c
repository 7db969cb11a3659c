/* Sweeps a grid of ranks from its corners. A rank keeps one request for each axis, waits for them before the next send,
 * and forgets those of a group of energies when the next one begins; the last ones it frees. Argument: groups. */
#include <mpi.h>

#include <stdlib.h>

enum { CHUNKS = 4, MOST = 128 };

int main(int argc, char** argv) {
  static double there[2][MOST], here[2][MOST];
  const int groups = argc > 1 ? atoi(argv[1]) : 2;
  int dims[2] = {0, 0}, ranks, rank;
  MPI_Request kept[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Dims_create(ranks, 2, dims);
  const int places[2] = {rank / dims[1], rank % dims[1]}, strides[2] = {dims[1], 1};
  for (int group = 0; group < groups; group++) {
    kept[0] = kept[1] = MPI_REQUEST_NULL;
    for (int turn = 0; turn < 4; turn++) {
      const int corner = turn ^ turn >> 1; /* the next one differs along one axis */
      int up[2], down[2], sends = 0;
      for (int axis = 0; axis < 2; axis++) {
        const int step = corner >> axis & 1 ? -1 : 1, after = places[axis] + step, before = places[axis] - step;
        down[axis] = after >= 0 && after < dims[axis] ? rank + step * strides[axis] : -1;
        up[axis] = before >= 0 && before < dims[axis] ? rank - step * strides[axis] : -1;
        sends |= down[axis] >= 0;
      }
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        for (int axis = 0; axis < 2; axis++)
          if (up[axis] >= 0)
            MPI_Recv(here[axis], 64 * (axis + 1), MPI_DOUBLE, up[axis], corner * CHUNKS + chunk, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (sends) MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
        for (int axis = 0; axis < 2; axis++)
          if (down[axis] >= 0)
            MPI_Isend(there[axis], 64 * (axis + 1), MPI_DOUBLE, down[axis], corner * CHUNKS + chunk, MPI_COMM_WORLD,
                      &kept[axis]);
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, here[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int axis = 0; axis < 2; axis++)
    if (kept[axis] != MPI_REQUEST_NULL) MPI_Request_free(&kept[axis]);
  MPI_Finalize();
  return 0;
}
