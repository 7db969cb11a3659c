// C++ programs use the C entry points: a ring in a class, with one named region.
#include <mpi.h>

#include <vector>

class Ring {
 public:
  explicit Ring(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~Ring() { MPI_Comm_free(&comm_); }
  void turn(std::vector<float>& data) {
    MPI_Sendrecv_replace(data.data(), static_cast<int>(data.size()), MPI_FLOAT, (rank_ + 1) % size_, 9,
                         (rank_ + size_ - 1) % size_, 9, comm_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Ring ring(MPI_COMM_WORLD);
    std::vector<float> data(25, 1.0f);
    MPI_Pcontrol(1, "ring");
    for (int i = 0; i < 3; i++) ring.turn(data);
    MPI_Pcontrol(0);
  }
  MPI_Finalize();
  return 0;
}
