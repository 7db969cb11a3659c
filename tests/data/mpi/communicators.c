/* Collectives and messages in communicators: all ranks again, lines and planes of a grid, blocks of four ranks with the
   last one first, odd ranks. */
#include <mpi.h>

int main(int argc, char** argv) {
  int ranks, world, place, along, four;
  int extents[3] = {0, 0, 0}, periods[3] = {0, 0, 0};
  const int first_axis[3] = {1, 0, 0}, last_axis[3] = {0, 0, 1}, both_axes[3] = {1, 0, 1};
  double in[64] = {0}, out[64];
  MPI_Comm all, grid, column, row, plane, block, odd;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Dims_create(ranks, 3, extents);
  MPI_Cart_create(MPI_COMM_WORLD, 3, extents, periods, 0, &grid);
  MPI_Cart_sub(grid, first_axis, &column);
  MPI_Cart_sub(grid, last_axis, &row);
  MPI_Cart_sub(grid, both_axes, &plane);
  MPI_Comm_split(MPI_COMM_WORLD, world / 4, -world, &block);
  MPI_Comm_split(MPI_COMM_WORLD, world % 2 ? 0 : MPI_UNDEFINED, world, &odd);
  MPI_Comm_rank(row, &place);
  MPI_Comm_size(row, &along);
  MPI_Comm_size(block, &four);
  for (int i = 0; i < 6; ++i) {
    MPI_Bcast(in, 64, MPI_DOUBLE, 0, column);
    if (place > 0) MPI_Recv(out, 8, MPI_DOUBLE, place - 1, 3, row, MPI_STATUS_IGNORE);
    if (place < along - 1) MPI_Send(in, 8, MPI_DOUBLE, place + 1, 3, row);
    MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, plane);
    MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, block);
    if (odd != MPI_COMM_NULL) MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, odd);
    MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_MAX, all);
  }
  MPI_Finalize();
  return 0;
}
