// A C++ program with the long names of real ones: namespaces, templates, overloads; a set-up of single calls, then
// steps.
#include <mpi.h>

#include <array>
#include <cmath>
#include <vector>

namespace particle_dynamics_framework::domain_decomposition {

template <typename Real, int Dimensions>
class HaloExchangeCommunicator {
 public:
  __attribute__((noinline)) explicit HaloExchangeCommunicator(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    std::array<int, Dimensions> shape{};
    MPI_Bcast(shape.data(), Dimensions, MPI_INT, 0, comm_);
    work(3);
    MPI_Barrier(comm_);
  }
  __attribute__((noinline)) void exchange_ghost_particles(std::vector<Real>& values) {
    const int bytes = static_cast<int>(values.size() * sizeof(Real));
    MPI_Sendrecv_replace(values.data(), bytes, MPI_BYTE, (rank_ + 1) % size_, 1, (rank_ + size_ - 1) % size_, 1, comm_,
                         MPI_STATUS_IGNORE);
    work(5);
    MPI_Barrier(comm_);
  }
  __attribute__((noinline)) void exchange_ghost_forces(std::vector<Real>& values) {
    MPI_Barrier(comm_);
    work(2);
    exchange_ghost_particles(values);
  }
  __attribute__((noinline)) double work(int rounds) {
    for (int i = 0; i < 20000 * rounds; i++) sum_ += std::sqrt(sum_ + i);
    return sum_;
  }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  double sum_ = 0;
};

}  // namespace particle_dynamics_framework::domain_decomposition

namespace {

template <typename Real>
__attribute__((noinline)) void run(int steps) {
  particle_dynamics_framework::domain_decomposition::HaloExchangeCommunicator<Real, 3> halo(MPI_COMM_WORLD);
  std::vector<Real> values(64, Real(1));
  for (int step = 0; step < steps; step++) {
    halo.exchange_ghost_particles(values);
    halo.exchange_ghost_forces(values);
    double total = halo.work(4);
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run<double>(10);
  run<float>(10);
  MPI_Finalize();
}
