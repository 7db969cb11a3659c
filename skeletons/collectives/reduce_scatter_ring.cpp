// Reduce-scatter on a ring: p - 1 steps in which each rank combines one share and passes it on, until it holds its own;
// the first half of the ring allreduce (Patarasuk and Yuan, 2009). Only neighbours communicate. Open MPI's
// (coll_base_reduce_scatter.c) works on a copy of everything, and posts a receive before it waits for the one before.
#include "ring_reduction.hpp"

namespace manynode::collectives {

void reduce_scatter_ring(const Task& task, Messages& messages) {
  if (task.library == Library::OpenMpi) {
    messages.allocate({{task.block_sum(0, task.size)}, {task.block(0)}, {task.block(0)}});
    messages.copy(task.block_sum(0, task.size));
    reduce_on_ring(
        task, [&](int step) { return task.block((task.rank - step - 1 + 2 * task.size) % task.size); }, messages);
    messages.copy(task.block(task.rank));
    return;
  }
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
