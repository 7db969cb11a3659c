// Allgather on a ring: each rank forwards what it received in the previous step; p - 1 steps between neighbours.
#include "algorithm.hpp"

namespace manynode::collectives {

void allgather_ring(const Task& task, Messages& messages) {
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  messages.copy(task.block(task.rank));
  for (int step = 0; step < task.size - 1; ++step) {
    const auto share = [&](int back) { return task.block((task.rank - back + task.size) % task.size); };
    messages.exchange_filled(next, share(step), previous, share(step + 1));
  }
}

}  // namespace manynode::collectives
