/* For tests of the engine qemu. All ranks compute a little between barriers; then rank 0 does what argv[1] says: spin
 * (never calls MPI again), wide (one AVX-512 instruction), or nothing. The others wait for it. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

static volatile double sink;

static void compute(int steps) {
  for (int i = 0; i < steps; i++) sink = sink + 1e-3 * i;
}

#ifdef __AVX512F__
static void wide(void) {
  __m512d a = _mm512_set1_pd(sink);
  __asm__ volatile("vaddpd %0, %0, %0" : "+v"(a));
  sink = _mm512_reduce_add_pd(a);
}
#endif

int main(int argc, char** argv) {
  int rank;
  const char* way = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) {
    compute(1000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) {
    printf("rank 0 is about to %s\n", way);
    fflush(stdout);
    if (strcmp(way, "spin") == 0)
      for (;;) compute(1000);
#ifdef __AVX512F__
    if (strcmp(way, "wide") == 0) wide();
#endif
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
