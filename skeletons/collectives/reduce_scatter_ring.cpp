// Reduce-scatter on a ring: p - 1 steps in which each rank combines one share and passes it on, until it holds its own;
// the first half of the ring allreduce (Patarasuk and Yuan, 2009). Only neighbours communicate.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_scatter_ring(const Task& task, Messages& messages) {
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  for (int step = 0; step < task.size - 1; ++step) {
    messages.exchange(next, task.bytes, previous, task.bytes);
    messages.combine(task.bytes);
  }
}

}  // namespace manynode::collectives
