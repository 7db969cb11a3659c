/* The same sum by one thread ("one thread") and by all ("all threads"), in registers: cores count, nothing else. */
#include <mpi.h>
#include <omp.h>

#include <stdio.h>

/* Not inlined: with other code around it, it would be other code. */
__attribute__((noinline)) static double part(int from, int to) {
  double sum = 0;
  for (int i = from; i < to; i++) sum = sum * 0.999 + i;
  return sum;
}

int main(int argc, char** argv) {
  enum { TERMS = 200000 };
  double one, all = 0;
  MPI_Init(&argc, &argv);
#pragma omp parallel
  all += omp_get_thread_num() < 0; /* the threads are made */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1, "one thread");
  one = part(0, TERMS);
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1, "all threads");
#pragma omp parallel reduction(+ : all)
  {
    const int threads = omp_get_num_threads(), number = omp_get_thread_num();
    all += part(TERMS / threads * number, TERMS / threads * (number + 1));
  }
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (one == all) printf("never\n");
  MPI_Finalize();
  return 0;
}
