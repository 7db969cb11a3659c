// Open MPI's binomial broadcast (coll_base_bcast.c, bmtree of coll_base_topo.c): a rank sends to its nearest child
// first and waits for all of its sends together, segment by segment. MPICH's sends to the farthest child first, one
// after the other.
#include "trees.hpp"

namespace manynode::collectives {

void bcast_binomial_nearest(const Task& task, Messages& messages) {
  bcast_along(nearest_first_tree(task), Segments(task.bytes, task.segment), messages);
}

}  // namespace manynode::collectives
