/* argv[1] times: argv[2] passes over 16 KiB of numbers, then a barrier, or none with "alone". */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  enum { COUNT = 2048 };
  static double values[COUNT];
  const int calls = argc > 1 ? atoi(argv[1]) : 1, passes = argc > 2 ? atoi(argv[2]) : 1;
  const int alone = argc > 3 && strcmp(argv[3], "alone") == 0;
  if (!alone) MPI_Init(&argc, &argv);
  for (int call = 0; call < calls; call++) {
    for (int pass = 0; pass < passes; pass++)
      for (int i = 1; i < COUNT; i++) values[i] += 0.5 * values[i - 1] + i;
    if (!alone) MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("checksum: %.9f\n", values[COUNT - 1]);
  if (!alone) MPI_Finalize();
  return 0;
}
