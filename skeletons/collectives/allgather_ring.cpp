// Allgather on a ring: each rank forwards what it received in the previous step; p - 1 steps between neighbours.
#include "algorithm.hpp"

namespace manynode::collectives {

void allgather_ring(const Task& task, Messages& messages) {
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  for (int step = 0; step < task.size - 1; ++step) {
    messages.exchange(next, task.bytes, previous, task.bytes);
  }
}

}  // namespace manynode::collectives
