// Reduce-scatter on a ring: p - 1 steps in which each rank combines one share and passes it on, until it holds its own;
// the first half of the ring allreduce (Patarasuk and Yuan, 2009). Only neighbours communicate.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_scatter_ring(const Task& task, Messages& messages) {
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  for (int step = 0; step < task.size - 1; ++step) {
    // The share of the rank before this one starts here, and so on; the own one comes last.
    const auto share = [&](int back) { return task.block((task.rank - back + 2 * task.size) % task.size); };
    messages.exchange_filled(next, share(step + 1), previous, share(step + 2));
    messages.combine(share(step + 2));
  }
}

}  // namespace manynode::collectives
