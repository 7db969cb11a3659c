// Open MPI's binomial reduction (coll_base_reduce.c, in-order tree of coll_base_topo.c). The tree is MPICH's; the
// receive of the next child is posted before the last one's is waited for.
#include "trees.hpp"

namespace manynode::collectives {

void reduce_in_order_binomial(const Task& task, Messages& messages) {
  reduce_along(in_order_binomial_tree(task), Segments(task.bytes, task.segment, kElementBytes), messages);
}

}  // namespace manynode::collectives
