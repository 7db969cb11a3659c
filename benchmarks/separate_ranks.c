/* Makes each rank of a job a world of its own: MPI_COMM_WORLD is MPI_COMM_SELF for the program, so that ranks do the
 * same work as one alone, side by side. Loaded before the markers library, which still sees the real ranks. Covers the
 * calls of the mini-apps. Library of benchmarks/node_host.py. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>

static MPI_Comm own(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? MPI_COMM_SELF : comm; }

#define PASS_ON(call, parameters, arguments)                      \
  int call parameters {                                           \
    static int(*next) parameters;                                 \
    if (!next) next = (int(*) parameters)dlsym(RTLD_NEXT, #call); \
    return next arguments;                                        \
  }

PASS_ON(MPI_Comm_rank, (MPI_Comm comm, int* rank), (own(comm), rank))
PASS_ON(MPI_Comm_size, (MPI_Comm comm, int* size), (own(comm), size))
PASS_ON(MPI_Barrier, (MPI_Comm comm), (own(comm)))
PASS_ON(MPI_Allreduce, (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (from, to, count, type, op, own(comm)))
PASS_ON(MPI_Alltoall,
        (const void* from, int sent, MPI_Datatype type, void* to, int received, MPI_Datatype as, MPI_Comm comm),
        (from, sent, type, to, received, as, own(comm)))
PASS_ON(MPI_Alltoallv,
        (const void* from, const int* sent, const int* at, MPI_Datatype type, void* to, const int* received,
         const int* into, MPI_Datatype as, MPI_Comm comm),
        (from, sent, at, type, to, received, into, as, own(comm)))
PASS_ON(MPI_Send, (const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm),
        (from, count, type, rank, tag, own(comm)))
PASS_ON(MPI_Isend,
        (const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request),
        (from, count, type, rank, tag, own(comm), request))
PASS_ON(MPI_Recv, (void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status* status),
        (to, count, type, rank, tag, own(comm), status))
PASS_ON(MPI_Irecv, (void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request),
        (to, count, type, rank, tag, own(comm), request))
PASS_ON(MPI_Sendrecv,
        (const void* from, int sent, MPI_Datatype type, int to_rank, int tag, void* to, int received, MPI_Datatype as,
         int from_rank, int as_tag, MPI_Comm comm, MPI_Status* status),
        (from, sent, type, to_rank, tag, to, received, as, from_rank, as_tag, own(comm), status))
