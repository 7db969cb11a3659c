/* Ranks 0 and 1 exchange aligned messages of argv[1] bytes, argv[2] times there and back, and check every word. The
 * receiver's first touch of what came lies between its MPI_Recv and its MPI_Send, in the compute phase "first touch".
 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t bytes = argc > 1 ? (size_t)atol(argv[1]) : 1 << 20, words = bytes / sizeof(uint64_t);
  const int turns = argc > 2 ? atoi(argv[2]) : 2;
  uint64_t* buffer = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  for (size_t i = 0; i < words; i++) buffer[i] = i * 13;
  for (int turn = 0; turn < turns && rank < 2; turn++) {
    if (rank == turn % 2) MPI_Send(buffer, (int)bytes, MPI_BYTE, !rank, turn, MPI_COMM_WORLD);
    if (rank != turn % 2) {
      MPI_Recv(buffer, (int)bytes, MPI_BYTE, !rank, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Pcontrol(1, "first touch");
      for (size_t i = 0; i < words; i++) wrong += buffer[i]++ != i * 13 + (uint64_t)turn;
      MPI_Pcontrol(0);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong words: %d\n", wrong);
  MPI_Finalize();
  free(buffer);
  return wrong != 0;
}
