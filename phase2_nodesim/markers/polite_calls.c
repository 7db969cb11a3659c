/* Polite variants of calls whose own request would tell the program less than the call does. The rest are generated:
 * MPI_I<name> and a wait. The variants with int and with MPI_Count are one text, polite_calls.inc. */
#include "markers.h"

#include <limits.h>
#include <sys/mman.h>

/* MPICH raises the errors of a request on MPI_COMM_WORLD, and those of a receive on its communicator. */
static bool raises_elsewhere(MPI_Comm comm) {
#ifdef OPEN_MPI
  return (void)comm, false;
#else
  if (comm == MPI_COMM_WORLD) return false;
  MPI_Errhandler handlers[2];
  if (mk_real.Comm_get_errhandler(comm, &handlers[0]) != MPI_SUCCESS) return false;
  if (mk_real.Comm_get_errhandler(MPI_COMM_WORLD, &handlers[1]) != MPI_SUCCESS) return false;
  bool programs = false;
  for (int i = 0; i < 2; i++) {
    if (handlers[i] == MPI_ERRORS_ARE_FATAL || handlers[i] == MPI_ERRORS_RETURN) continue;
    mk_real.Errhandler_free(&handlers[i]);
    programs = true;
  }
  return programs || handlers[0] != handlers[1];
#endif
}

/* Whether a receive must be the call itself, because its request has another status or raises its errors elsewhere. */
static bool receives_natively(int source, MPI_Comm comm) { return source == MPI_PROC_NULL || raises_elsewhere(comm); }

/* A message is here before such a receive; a probe that fails leaves the error to the receive. */
static void await_message(int source, int tag, MPI_Comm comm) {
  if (source != MPI_PROC_NULL) mk_polite_probe(source, tag, comm, MPI_STATUS_IGNORE);
}

/* MPICH 4.0's MPI_Ibcast to another group sends to its first rank, and spreads from the one with the root's number. */
static bool broadcasts_natively(MPI_Comm comm) {
#ifdef OPEN_MPI
  return (void)comm, false;
#else
  int between_groups = 0;
  mk_real.Comm_test_inter(comm, &between_groups);
  return between_groups;
#endif
}

/* Open MPI's non-blocking reductions add in another order than the blocking ones. */
bool mk_polite_meets_before(MPI_Op op) {
#ifdef OPEN_MPI
  return op != MPI_MAX && op != MPI_MIN;
#else
  return (void)op, false;
#endif
}

int mk_polite_meet(MPI_Comm comm) { return MK_POLITELY(Ibarrier, comm); }

/* What MPI_Sendrecv_replace sends, apart from the buffer that it receives into. */
struct packed {
  char few[4096];
  void* data;
  int bytes;
  size_t mapped;
};

static void unmap(const struct packed* packed) {
  if (packed->mapped) munmap(packed->data, packed->mapped);
}

/* False: too much for an int, no memory, or wrong arguments. */
static bool pack(struct packed* packed, const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest,
                 MPI_Comm comm) {
  int room = 0;
  packed->data = packed->few;
  packed->bytes = 0;
  packed->mapped = 0;
  if (dest == MPI_PROC_NULL || count == 0) return true;
  if (count < 0 || count > INT_MAX || mk_bytes(count, datatype) > INT_MAX / 2) return false;
  if (mk_real.Pack_size((int)count, datatype, comm, &room) != MPI_SUCCESS) return false;
  if (room > (int)sizeof packed->few) {
    packed->data = mk_allocate((size_t)room);
    if (!packed->data) return false;
    packed->mapped = (size_t)room;
  }
  if (mk_real.Pack(buffer, (int)count, datatype, packed->data, room, &packed->bytes, comm) == MPI_SUCCESS) return true;
  unmap(packed);
  return false;
}

static int first_error(int first, int second) { return first != MPI_SUCCESS ? first : second; }

#define COUNT int
#define VARIANT(name) name
#include "polite_calls.inc"

#if MPI_VERSION >= 4
#undef COUNT
#undef VARIANT
#define COUNT MPI_Count
#define VARIANT(name) name##_c
#include "polite_calls.inc"
#endif
