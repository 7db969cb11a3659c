// Reduce-scatter as a reduction of everything to rank 0 along a binomial tree, which then hands out the shares itself
// (Open MPI's "basic linear").
#include "algorithms.hpp"

namespace manynode::collectives {

void reduce_scatter_at_root(const Task& task, Messages& messages) {
  Task at_root = task;
  at_root.root = 0;
  at_root.bytes = task.block_sum(0, task.size);
  reduce_binomial(at_root, messages);
  at_root.bytes = task.bytes;
  scatter_linear(at_root, messages);
}

}  // namespace manynode::collectives
