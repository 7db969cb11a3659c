/* Shared by communicators, groups and topologies. */
#ifndef MANYNODE_BRIDGE_COMMUNICATORS_H
#define MANYNODE_BRIDGE_COMMUNICATORS_H

#include "shim.h"

#define FIND(comm, name)                    \
  struct mb_comm* found = mb_comm_of(comm); \
  if (!found) return mb_wrong(name, MPI_ERR_COMM, "no such communicator (%d)", comm)

/* lists of ranks in separate pages, which are returned to the system */
int* mb_new_ranks(int count);
void mb_free_ranks(int* ranks, int count);
int mb_position(const int* ranks, int size, int world_rank); /* MPI_UNDEFINED: not there */
int* mb_copy_ints(const int* from, int count);

/* the communicator in a reply; NULL for MPI_COMM_NULL */
struct mb_comm* mb_comm_from_reply(const struct mb_call* call, MPI_Comm* newcomm);
void mb_give_topology(struct mb_comm* comm, int ndims, const int* dims, const int* periods);
void mb_make_first_groups(void);

#endif
