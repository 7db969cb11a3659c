/* Communicators whose details every_call.c does not have: graphs, a copy that is not ready at once, two halves of which
 * a rank is in one or in none, an intercommunicator. Four ranks. */
#include <mpi.h>

#include <stddef.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm ring, star, copy, half, inter;
  MPI_Request request;

  /* each rank receives from the one below and sends to the one above, and rank 0 sends to rank 2 as well */
  const int below = (rank + 3) % 4, above = (rank + 1) % 4;
  const int sources[2] = {below, 0}, destinations[2] = {above, 2};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 2 ? 2 : 1, sources, MPI_UNWEIGHTED, rank == 0 ? 2 : 1,
                                 destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  /* a star around rank 0 */
  const int ends[4] = {3, 4, 5, 6}, edges[6] = {1, 2, 3, 0, 0, 0};
  MPI_Graph_create(MPI_COMM_WORLD, 4, ends, edges, 0, &star);
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 0, -rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
  MPI_Finalize();
  return 0;
}
