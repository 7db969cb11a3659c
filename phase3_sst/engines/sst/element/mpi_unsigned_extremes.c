/* MPI_Allreduce for smallest and largest unsigned 64-bit numbers, right under every MPI.
 *
 * MPICH 4.0 (Debian 12) compares MPI_UINT64_T as if it had a sign. SST with several processes finds its synchronisation
 * interval as such a minimum, in which all processes but the first put in the largest number: with that MPICH SST
 * believes that its processes are not connected, and ends in its first steps. Preloaded (LD_PRELOAD) into sst, this
 * function stands before MPI's own; with the upper bit turned over, numbers with a sign have the same order. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef OPEN_MPI
/* Open MPI's handles are addresses of its data. The launcher and what it starts before sst are preloaded with this
 * library too, and have no MPI: there these must not be missed. */
#pragma weak ompi_mpi_uint64_t
#pragma weak ompi_mpi_int64_t
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_max
#endif

int MPI_Allreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm group) {
  if (type != MPI_UINT64_T || (operation != MPI_MIN && operation != MPI_MAX) || count <= 0) {
    return PMPI_Allreduce(sent, received, count, type, operation, group);
  }
  const uint64_t upper = UINT64_C(1) << 63;
  const size_t n = (size_t)count;
  const uint64_t* numbers = sent == MPI_IN_PLACE ? received : sent;
  uint64_t* turned = malloc(n * sizeof *turned);
  if (turned == NULL) return MPI_ERR_NO_MEM;
  for (size_t i = 0; i < n; ++i) turned[i] = numbers[i] ^ upper;
  const int result = PMPI_Allreduce(turned, received, count, MPI_INT64_T, operation, group);
  for (size_t i = 0; i < n; ++i) ((uint64_t*)received)[i] ^= upper;
  free(turned);
  return result;
}
