// Open MPI's reduction along several chains below the root, four by default (coll_base_reduce.c), segment by segment:
// the next segment, or the next child's, is on its way while one is combined.
#include "trees.hpp"

namespace manynode::collectives {

void reduce_chain(const Task& task, Messages& messages) {
  reduce_along(chain_tree(task, 4), Segments(task.bytes, task.segment, kElementBytes), messages);
}

}  // namespace manynode::collectives
