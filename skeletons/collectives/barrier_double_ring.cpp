// Barrier by a message that goes twice round all ranks (Open MPI's double ring, coll_base_barrier.c): 2 p steps.
#include "algorithm.hpp"

namespace manynode::collectives {

void barrier_double_ring(const Task& task, Messages& messages) {
  const int left = (task.rank - 1 + task.size) % task.size;
  const int right = (task.rank + 1) % task.size;
  for (int round = 0; round < 2; ++round) {
    if (task.rank > 0) {
      messages.recv(left, 0);
    }
    messages.send(right, 0);
    if (task.rank == 0) {
      messages.recv(left, 0);
    }
  }
}

}  // namespace manynode::collectives
