/* mpi.h, included so that this library needs no MPI library at load time: it is preloaded into every process of a job's
 * tree (launchers, shells), and most of those are no MPI programs. Functions are looked up at run time; the data
 * symbols behind Open MPI's handles are made weak and are then NULL where there is no MPI. */
#ifndef MANYNODE_MPI_COMPAT_H
#define MANYNODE_MPI_COMPAT_H

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
/* what mpi.h declares is what this library exports; everything else stays hidden */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#if defined(OPEN_MPI)
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_request_null
#pragma weak ompi_message_no_proc
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_win_null
#define MK_MPI_PRESENT() (&ompi_mpi_comm_world != 0)
#define MK_MPI_NAME "openmpi"
#else
#define MK_MPI_PRESENT() 1
#define MK_MPI_NAME "mpich"
#endif

/* a handle as a number: MPICH's are ints, Open MPI's are pointers */
#define MK_HANDLE(handle) ((uintptr_t)(handle))

#endif
