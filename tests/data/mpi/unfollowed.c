/* What the markers do not follow: everything at once, or MPI as a session or by dlopen. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* another tool */
int MPI_Scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return PMPI_Scan(from, to, count, type, op, comm);
}

static void* other_thread(void* unused) {
  MPI_Barrier(MPI_COMM_SELF);
  return unused;
}

static void everything(int argc, char** argv) {
  int provided, rank, ranks, sum, one = 1;
  MPI_Request request, requests[2];
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided >= MPI_THREAD_SERIALIZED && pthread_create(&thread, NULL, other_thread, NULL) == 0)
    pthread_join(thread, NULL);
  MPI_Irecv(&sum, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(&one, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &requests[1]);
  MPI_Cancel(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
#if MPI_VERSION >= 4
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
  MPI_Psend_init(&one, 1, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
#endif
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(&one, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}

static void past_the_markers(const char* library) {
  void* mpi = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(mpi, "MPI_Init");
  int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
  init(NULL, NULL);
  finalize();
}

int main(int argc, char** argv) {
  if (argc < 2) everything(argc, argv);
  if (argc == 2 && strcmp(argv[1], "session")) past_the_markers(argv[1]);
#if MPI_VERSION >= 4
  MPI_Session session;
  if (argc == 2 && !strcmp(argv[1], "session") &&
      MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS)
    MPI_Session_finalize(&session);
#endif
  return 0;
}
