// Workers that are the ranks of an MPI job. A barrier before and one after make the timed region a compute phase of its
// own, and MPI_Pcontrol gives it the task's label. Everything else that a task does is the phase "setup".
#include <mpi.h>

#include "workers.hpp"

namespace manynode::calibration {
namespace {

std::string region_label;
double start;

}  // namespace

void workers_begin(int* argc, char*** argv) { MPI_Init(argc, argv); }
void workers_end() { MPI_Finalize(); }

int most_workers() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int standard_workers() { return most_workers(); }

bool reports() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

void with_workers(int count, const std::string& label, const std::function<void(const Worker&)>& work) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  region_label = label;
  MPI_Pcontrol(1, "setup");
  work({rank, count});
}

void region_begin() {
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1, region_label.c_str());
  start = MPI_Wtime();
}

double region_end() {
  const double seconds = MPI_Wtime() - start;
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  return seconds;
}

double largest(double value, const Worker&) {
  double most = 0;
  MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

}  // namespace manynode::calibration
