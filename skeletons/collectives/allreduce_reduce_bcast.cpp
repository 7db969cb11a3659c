// Allreduce as a reduction to rank 0 and a broadcast, both along a binomial tree (Open MPI's "nonoverlapping"): twice
// the rounds of recursive doubling, but only 2 (p - 1) messages.
#include "algorithms.hpp"

namespace manynode::collectives {

void allreduce_reduce_bcast(const Task& task, Messages& messages) {
  Task at_root = task;
  at_root.root = 0;
  reduce_binomial(at_root, messages);
  bcast_binomial(at_root, messages);
}

}  // namespace manynode::collectives
