/* Every call that skeletons have, blocking and not, on the world and on other communicators. The number of ranks is
 * even and at least 4. */
#include <mpi.h>

#include <stdlib.h>

enum { N = 10, MOST = 64 };

static int rank, size, right, left;
static double a[8 * MOST], b[8 * MOST];
static MPI_Comm world;

static void wait_for(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

static void sends_and_receives(void) {
  char* room = malloc(1 << 16);
  MPI_Message message;
  int flag = 0, bytes;
  MPI_Buffer_attach(room, 1 << 16);
  if (rank % 2 == 0) {
    MPI_Send(a, N, MPI_DOUBLE, right, 1, world);
    MPI_Ssend(a, N, MPI_DOUBLE, right, 2, world);
    MPI_Bsend(a, N, MPI_DOUBLE, right, 3, world);
    MPI_Send(a, N, MPI_INT, right, 4, world);
    MPI_Send(a, N, MPI_INT, right, 5, world);
  } else {
    MPI_Recv(b, MOST, MPI_DOUBLE, left, 1, world, MPI_STATUS_IGNORE); /* room for more than what comes */
    MPI_Recv(b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
    MPI_Probe(left, 3, world, MPI_STATUS_IGNORE);
    MPI_Recv(b, N, MPI_DOUBLE, left, 3, world, MPI_STATUS_IGNORE);
    MPI_Mprobe(left, 4, world, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(b, N, MPI_INT, &message, MPI_STATUS_IGNORE);
    while (!flag) MPI_Iprobe(left, 5, world, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(b, N, MPI_INT, left, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
  }
  MPI_Sendrecv(a, 2, MPI_DOUBLE, right, 6, b, N, MPI_DOUBLE, left, 6, world, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(a, 3, MPI_DOUBLE, left, 7, right, 7, world, MPI_STATUS_IGNORE);
  MPI_Sendrecv(a, 2, MPI_DOUBLE, rank ? left : MPI_PROC_NULL, 8, b, 2, MPI_DOUBLE,
               rank + 1 < size ? right : MPI_PROC_NULL, 8, world, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&room, &bytes);
  free(room);
}

static void requests(void) {
  MPI_Request q[6];
  int index, done, flag = 0, indices[6];
  for (int i = 0; i < 6; i++) q[i] = MPI_REQUEST_NULL;
  MPI_Irecv(b, N, MPI_DOUBLE, left, 10, world, &q[0]);
  MPI_Irecv(b + N, N, MPI_DOUBLE, left, 11, world, &q[1]);
  MPI_Irecv(b + 2 * N, N, MPI_DOUBLE, MPI_PROC_NULL, 12, world, &q[2]);
  MPI_Isend(a, N, MPI_DOUBLE, right, 11, world, &q[3]);
  MPI_Issend(a, N, MPI_DOUBLE, right, 10, world, &q[4]);
  MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
  MPI_Waitsome(5, q, &done, indices, MPI_STATUSES_IGNORE);
  MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
  wait_for(&q[0]); /* null by now */
  MPI_Irecv(b, N, MPI_DOUBLE, left, 13, world, &q[0]);
  MPI_Irecv(b + N, N, MPI_DOUBLE, left, 14, world, &q[1]);
  MPI_Isend(a, N, MPI_DOUBLE, right, 13, world, &q[2]);
  MPI_Isend(a, N, MPI_DOUBLE, right, 14, world, &q[3]);
  while (!flag) MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
  for (done = 0; !done;) MPI_Testsome(2, q, &done, indices, MPI_STATUSES_IGNORE);
  for (flag = 0; !flag;) MPI_Testany(4, q, &index, &flag, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Testall(4, q, &flag, MPI_STATUSES_IGNORE);
  MPI_Recv_init(b, N, MPI_DOUBLE, left, 15, world, &q[0]);
  MPI_Send_init(a, N, MPI_DOUBLE, right, 15, world, &q[1]);
  for (int i = 0; i < 3; i++) {
    MPI_Startall(2, q);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&q[0]);
  MPI_Start(&q[1]);
  wait_for(&q[1]);
  wait_for(&q[0]);
  MPI_Request_free(&q[0]);
  MPI_Request_free(&q[1]);
}

/* Shares of different sizes, some of them empty. */
static int share(int of) { return of % 3; }

static void collectives(MPI_Comm comm) {
  int counts[MOST], displs[MOST], places[MOST], sent[MOST], received[MOST], me, ranks;
  MPI_Datatype types[MOST];
  MPI_Request q;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; i++) {
    counts[i] = share(i), displs[i] = 3 * i, types[i] = MPI_DOUBLE, places[i] = 24 * i;
    sent[i] = share(me + i), received[i] = share(i + me);
  }
  const int root = ranks - 1, mine = counts[me];
  MPI_Barrier(comm);
  MPI_Ibarrier(comm, &q), wait_for(&q);
  MPI_Bcast(a, N, MPI_DOUBLE, root, comm);
  MPI_Ibcast(a, N, MPI_DOUBLE, 0, comm, &q), wait_for(&q);
  MPI_Reduce(a, b, N, MPI_DOUBLE, MPI_SUM, root, comm);
  MPI_Ireduce(a, b, N, MPI_DOUBLE, MPI_SUM, 0, comm, &q), wait_for(&q);
  MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Iallreduce(MPI_IN_PLACE, b, N, MPI_DOUBLE, MPI_SUM, comm, &q), wait_for(&q);
  MPI_Scan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Iscan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm, &q), wait_for(&q);
  MPI_Exscan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Iexscan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm, &q), wait_for(&q);
  MPI_Gather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm);
  MPI_Igather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm, &q), wait_for(&q);
  MPI_Gatherv(a, mine, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, root, comm);
  MPI_Igatherv(a, mine, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, root, comm, &q), wait_for(&q);
  MPI_Allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm);
  MPI_Iallgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Allgatherv(a, mine, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm);
  MPI_Iallgatherv(a, mine, MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Scatter(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm);
  MPI_Iscatter(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, root, comm, &q), wait_for(&q);
  MPI_Scatterv(a, counts, displs, MPI_DOUBLE, b, mine, MPI_DOUBLE, root, comm);
  MPI_Iscatterv(a, counts, displs, MPI_DOUBLE, b, mine, MPI_DOUBLE, root, comm, &q), wait_for(&q);
  MPI_Alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, comm);
  MPI_Ialltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Alltoallv(a, sent, displs, MPI_DOUBLE, b, received, displs, MPI_DOUBLE, comm);
  MPI_Ialltoallv(a, sent, displs, MPI_DOUBLE, b, received, displs, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Alltoallw(a, sent, places, types, b, received, places, types, comm);
  MPI_Ialltoallw(a, sent, places, types, b, received, places, types, comm, &q), wait_for(&q);
  MPI_Reduce_scatter_block(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Ireduce_scatter_block(a, b, 2, MPI_DOUBLE, MPI_SUM, comm, &q), wait_for(&q);
  MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Ireduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, comm, &q), wait_for(&q);
}

/* `in` and `out` neighbours: the ranks themselves do not matter here, only that both ends agree on the bytes. */
static void neighbours(MPI_Comm comm, int in, int out) {
  int ones[MOST], displs[MOST];
  MPI_Aint places[MOST];
  MPI_Datatype types[MOST];
  MPI_Request q;
  for (int i = 0; i < in + out; i++) ones[i] = 1, displs[i] = i, places[i] = 8 * i, types[i] = MPI_DOUBLE;
  MPI_Neighbor_allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm);
  MPI_Ineighbor_allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Neighbor_allgatherv(a, 1, MPI_DOUBLE, b, ones, displs, MPI_DOUBLE, comm);
  MPI_Ineighbor_allgatherv(a, 1, MPI_DOUBLE, b, ones, displs, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Neighbor_alltoall(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm);
  MPI_Ineighbor_alltoall(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Neighbor_alltoallv(a, ones, displs, MPI_DOUBLE, b, ones, displs, MPI_DOUBLE, comm);
  MPI_Ineighbor_alltoallv(a, ones, displs, MPI_DOUBLE, b, ones, displs, MPI_DOUBLE, comm, &q), wait_for(&q);
  MPI_Neighbor_alltoallw(a, ones, places, types, b, ones, places, types, comm);
  MPI_Ineighbor_alltoallw(a, ones, places, types, b, ones, places, types, comm, &q), wait_for(&q);
}

int main(int argc, char** argv) {
  MPI_Comm reversed, half, copy, grid, line, graph;
  int dims[2] = {2, 0}, periods[2] = {0, 1}, keep[2] = {0, 1};
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  if (size < 4 || size % 2 || size > MOST) MPI_Abort(world, 2);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  sends_and_receives();
  requests();
  collectives(world);
  MPI_Comm_split(world, 0, -rank, &reversed);
  collectives(reversed);
  MPI_Comm_split(world, rank % 2 ? 1 : MPI_UNDEFINED, rank, &half);
  if (half != MPI_COMM_NULL) {
    MPI_Comm_dup(half, &copy);
    collectives(copy);
    MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, half);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
  }
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(reversed, 2, dims, periods, 0, &grid);
  neighbours(grid, 4, 4);
  MPI_Cart_sub(grid, keep, &line);
  MPI_Bcast(a, N, MPI_DOUBLE, 0, line);
  neighbours(line, 2, 2);
  MPI_Dist_graph_create_adjacent(world, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  neighbours(graph, 1, 1);
  MPI_Finalize();
  return 0;
}
