/* Includes mpi.h without needing an MPI library at load time: this library is preloaded into every process of a job's
 * tree (launchers, shells), most of which are not MPI programs. Functions are looked up at run time; the data symbols
 * behind Open MPI's handles are weak, and NULL without MPI. */
#ifndef MANYNODE_MPI_COMPAT_H
#define MANYNODE_MPI_COMPAT_H

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
/* this library exports the declarations of mpi.h; everything else stays hidden */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#if defined(OPEN_MPI)
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_packed
#pragma weak ompi_request_null
#pragma weak ompi_message_no_proc
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_min
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
