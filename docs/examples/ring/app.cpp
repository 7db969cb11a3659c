// The tutorial's program: a ring exchange, a sweep, a sum.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int iterations = 20;
  int doubles = 1024;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--iterations") == 0) {
      iterations = std::atoi(argv[i + 1]);
    } else if (std::strcmp(argv[i], "--doubles") == 0) {
      doubles = std::atoi(argv[i + 1]);
    }
  }
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<double> mine(static_cast<std::size_t>(doubles), rank + 1.0);
  std::vector<double> theirs(mine.size());
  double total = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    MPI_Request requests[2];
    MPI_Irecv(theirs.data(), doubles, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine.data(), doubles, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    MPI_Pcontrol(1, "stencil");  // names the compute phase in which it stands
    double sum = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = 0.5 * (mine[i] + theirs[i]);
      sum += mine[i];
    }
    MPI_Pcontrol(0);  // later phases do not inherit the name
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) {
    std::printf("total: %.6f\n", total);
  }
  MPI_Finalize();
}
