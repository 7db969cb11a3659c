// Allreduce by rank 0 alone, which reduces and broadcasts (Open MPI's basic linear, coll_base_allreduce.c).
#include "algorithms.hpp"

namespace manynode::collectives {

void allreduce_basic_linear(const Task& task, Messages& messages) {
  Task at_root = task;
  at_root.root = 0;
  reduce_linear(at_root, messages);
  bcast_linear(at_root, messages);
}

}  // namespace manynode::collectives
