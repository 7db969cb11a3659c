/* Four threads per rank exchange messages at once (MPI_THREAD_MULTIPLE), each on a tag of its own. */
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 200 };
static int rank;

static void* exchange(void* number) {
  const int tag = (int)(intptr_t)number;
  double out[4] = {0}, in[4];
  for (int i = 0; i < ROUNDS; i++)
    MPI_Sendrecv(out, 4, MPI_DOUBLE, 1 - rank, tag, in, 4, MPI_DOUBLE, 1 - rank, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided == MPI_THREAD_MULTIPLE) {
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, exchange, (void*)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
  MPI_Finalize();
  return 0;
}
