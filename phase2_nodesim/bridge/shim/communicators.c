/* Communicators. The guest keeps who is in them, so that only their creation needs the proxy. */
#include <string.h>
#include <sys/mman.h>

#include "communicators.h"

static struct mb_table comms = {.slot_bytes = sizeof(struct mb_comm)};

/* Members of communicators and groups lie in pages of their own, which are given back. */
int* mb_new_ranks(int count) { return mb_allocate((size_t)(count > 0 ? count : 1) * sizeof(int)); }
void mb_free_ranks(int* ranks, int count) { munmap(ranks, (size_t)(count > 0 ? count : 1) * sizeof(int)); }

struct mb_comm* mb_comm_of(MPI_Comm comm) {
  struct mb_comm* found = comm > MB_COMM_NULL ? mb_slot(&comms, comm) : NULL;
  return found && found->size ? found : NULL;
}

static struct mb_comm* make_comm(int number, int size, int rank) {
  while (comms.used <= number) {
    /* numbers are the proxy's: slots in between stay free */
    const int used = comms.used;
    mb_new_slot(&comms, NULL);
    *(struct mb_comm*)mb_slot(&comms, used) = (struct mb_comm){0};
  }
  struct mb_comm* comm = mb_slot(&comms, number);
  *comm = (struct mb_comm){.size = size, .rank = rank, .world_ranks = mb_new_ranks(size), .ndims = -1};
  return comm;
}

void mb_make_first_comms(void) {
  struct mb_comm* world = make_comm(MPI_COMM_WORLD, mb_guest.size, mb_guest.rank);
  for (int i = 0; i < mb_guest.size; i++) world->world_ranks[i] = i;
  make_comm(MPI_COMM_SELF, 1, 0)->world_ranks[0] = mb_guest.rank;
  mb_make_first_groups();
}

/* The communicator that a reply brings; NULL for MPI_COMM_NULL. */
struct mb_comm* mb_comm_from_reply(const struct mb_call* call, MPI_Comm* newcomm) {
  *newcomm = (MPI_Comm)call->reply.word[MB_R_COMM];
  if (*newcomm == MPI_COMM_NULL) return NULL;
  struct mb_comm* comm = make_comm(*newcomm, (int)call->reply.list_count, (int)call->reply.word[MB_R_RANK]);
  for (int i = 0; i < comm->size; i++) comm->world_ranks[i] = (int)call->list[i];
  return comm;
}

int MPI_Comm_size(MPI_Comm comm, int* size) {
  FIND(comm, "MPI_Comm_size");
  *size = found->size;
  return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  FIND(comm, "MPI_Comm_rank");
  *rank = found->rank;
  return MPI_SUCCESS;
}

int MPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  FIND(comm, "MPI_Comm_test_inter");
  *flag = 0;
  return MPI_SUCCESS;
}

int mb_position(const int* ranks, int size, int world_rank) {
  for (int i = 0; i < size; i++)
    if (ranks[i] == world_rank) return i;
  return MPI_UNDEFINED;
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  FIND(comm1, "MPI_Comm_compare");
  const struct mb_comm* other = mb_comm_of(comm2);
  if (!other) return mb_wrong("MPI_Comm_compare", MPI_ERR_COMM, "no such communicator (%d)", comm2);
  bool same_order = found->size == other->size, same_members = same_order;
  for (int i = 0; i < found->size && same_members; i++) {
    const int at = mb_position(other->world_ranks, other->size, found->world_ranks[i]);
    same_members = at != MPI_UNDEFINED;
    same_order = same_order && at == i;
  }
  *result = comm1 == comm2 ? MPI_IDENT : !same_members ? MPI_UNEQUAL : same_order ? MPI_CONGRUENT : MPI_SIMILAR;
  return MPI_SUCCESS;
}

int* mb_copy_ints(const int* from, int count) {
  int* to = mb_new_ranks(count);
  if (count > 0) memcpy(to, from, (size_t)count * sizeof(int));
  return to;
}

void mb_give_topology(struct mb_comm* comm, int ndims, const int* dims, const int* periods) {
  comm->ndims = ndims;
  comm->dims = mb_copy_ints(dims, ndims);
  comm->periods = mb_copy_ints(periods, ndims);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  MB_ENTER(Comm_dup);
  FIND(comm, "MPI_Comm_dup");
  call.request.word[0] = comm;
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  struct mb_comm* made = mb_comm_from_reply(&call, newcomm);
  found = mb_comm_of(comm);
  if (made && found->ndims >= 0) mb_give_topology(made, found->ndims, found->dims, found->periods);
  return mb_leave(&call);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  MB_ENTER(Comm_split);
  FIND(comm, "MPI_Comm_split");
  call.request.word[0] = comm;
  call.request.word[1] = color;
  call.request.word[2] = key;
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  mb_comm_from_reply(&call, newcomm);
  return mb_leave(&call);
}

int MPI_Comm_free(MPI_Comm* comm) {
  MB_ENTER(Comm_free);
  FIND(*comm, "MPI_Comm_free");
  if (*comm < MB_FIRST_COMM) return mb_wrong("MPI_Comm_free", MPI_ERR_COMM, "MPI_COMM_WORLD and _SELF cannot be freed");
  call.request.word[0] = *comm;
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  mb_free_ranks(found->world_ranks, found->size);
  if (found->ndims >= 0) {
    mb_free_ranks(found->dims, found->ndims);
    mb_free_ranks(found->periods, found->ndims);
  }
  found->size = 0;
  *comm = MPI_COMM_NULL;
  return mb_leave(&call);
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  FIND(comm, "MPI_Comm_set_errhandler");
  if (errhandler != MPI_ERRORS_ARE_FATAL && errhandler != MPI_ERRORS_RETURN)
    mb_fatal("MPI_Comm_set_errhandler", "only MPI_ERRORS_ARE_FATAL and MPI_ERRORS_RETURN are bridged");
  struct mb_call call;
  mb_open(&call, MB_Comm_set_errhandler, mb_now(), MB_SITE);
  call.request.word[0] = comm;
  call.request.word[1] = errhandler == MPI_ERRORS_RETURN;
  mb_ask(&call, NULL, 0);
  mb_guest.errors_return = errhandler == MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
