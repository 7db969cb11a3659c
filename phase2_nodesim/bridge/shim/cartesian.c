/* Cartesian topologies: ranks are numbered row by row, as the standard says. */
#include "communicators.h"

int MPI_Dims_create(int nnodes, int ndims, int dims[]) {
  /* how it is factored differs between MPI libraries: the native one decides, for all ranks alike */
  struct mb_call call;
  mb_open(&call, MB_Dims_create, mb_now(), MB_SITE);
  int64_t* list = mb_list_room(0, ndims);
  for (int i = 0; i < ndims; i++) list[i] = dims[i];
  call.request.word[0] = nnodes;
  mb_ask(&call, list, ndims);
  for (int i = 0; i < ndims && i < (int)call.reply.list_count; i++) dims[i] = (int)call.list[i];
  return (int)call.reply.word[MB_R_RESULT];
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  MB_ENTER(Cart_create);
  FIND(comm, "MPI_Cart_create");
  int64_t* list = mb_list_room(0, 2 * ndims);
  for (int i = 0; i < ndims; i++) {
    list[i] = dims[i];
    list[ndims + i] = periods[i];
  }
  call.request.word[0] = comm;
  call.request.word[1] = reorder;
  mb_request(&call, list, 2 * ndims, NULL);
  mb_reply(&call);
  struct mb_comm* made = mb_comm_from_reply(&call, newcomm);
  if (made) mb_give_topology(made, ndims, dims, periods);
  return mb_leave(&call);
}

#define FIND_CART(comm, name) \
  FIND(comm, name);           \
  if (found->ndims < 0) return mb_wrong(name, MPI_ERR_TOPOLOGY, "communicator %d has no Cartesian topology", comm)

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  MB_ENTER(Cart_sub);
  FIND_CART(comm, "MPI_Cart_sub");
  int64_t* list = mb_list_room(0, found->ndims);
  for (int i = 0; i < found->ndims; i++) list[i] = remain_dims[i];
  call.request.word[0] = comm;
  mb_request(&call, list, found->ndims, NULL);
  mb_reply(&call);
  struct mb_comm* made = mb_comm_from_reply(&call, newcomm);
  int kept = 0, dims[64], periods[64];
  for (int i = 0; made && i < found->ndims && kept < 64; i++)
    if (remain_dims[i]) {
      dims[kept] = found->dims[i];
      periods[kept++] = found->periods[i];
    }
  if (made) mb_give_topology(made, kept, dims, periods);
  return mb_leave(&call);
}

int MPI_Topo_test(MPI_Comm comm, int* status) {
  FIND(comm, "MPI_Topo_test");
  *status = found->ndims >= 0 ? MPI_CART : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  FIND_CART(comm, "MPI_Cartdim_get");
  *ndims = found->ndims;
  return MPI_SUCCESS;
}

static void coordinates_of(const struct mb_comm* comm, int rank, int maxdims, int* coords) {
  int rest = rank;
  for (int i = comm->ndims - 1; i >= 0; i--) {
    if (i < maxdims) coords[i] = rest % comm->dims[i];
    rest /= comm->dims[i];
  }
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  FIND_CART(comm, "MPI_Cart_get");
  for (int i = 0; i < found->ndims && i < maxdims; i++) {
    dims[i] = found->dims[i];
    periods[i] = found->periods[i];
  }
  coordinates_of(found, found->rank, maxdims, coords);
  return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  FIND_CART(comm, "MPI_Cart_coords");
  if (rank < 0 || rank >= found->size)
    return mb_wrong("MPI_Cart_coords", MPI_ERR_RANK, "rank %d of %d", rank, found->size);
  coordinates_of(found, rank, maxdims, coords);
  return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  FIND_CART(comm, "MPI_Cart_rank");
  *rank = 0;
  for (int i = 0; i < found->ndims; i++) {
    int at = coords[i];
    if (found->periods[i]) at = ((at % found->dims[i]) + found->dims[i]) % found->dims[i];
    if (at < 0 || at >= found->dims[i])
      return mb_wrong("MPI_Cart_rank", MPI_ERR_ARG, "coordinate %d of dimension %d, which is %d long", at, i,
                      found->dims[i]);
    *rank = *rank * found->dims[i] + at;
  }
  return MPI_SUCCESS;
}

/* The rank `disp` further on in one dimension; MPI_PROC_NULL beyond the border. */
static int neighbour(const struct mb_comm* comm, int direction, int disp) {
  int stride = 1;
  for (int i = direction + 1; i < comm->ndims; i++) stride *= comm->dims[i];
  const int length = comm->dims[direction], here = comm->rank / stride % length;
  int there = here + disp;
  if (comm->periods[direction]) there = ((there % length) + length) % length;
  return there < 0 || there >= length ? MPI_PROC_NULL : comm->rank + (there - here) * stride;
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  FIND_CART(comm, "MPI_Cart_shift");
  if (direction < 0 || direction >= found->ndims)
    return mb_wrong("MPI_Cart_shift", MPI_ERR_DIMS, "dimension %d of %d", direction, found->ndims);
  *rank_source = neighbour(found, direction, -disp);
  *rank_dest = neighbour(found, direction, disp);
  return MPI_SUCCESS;
}
