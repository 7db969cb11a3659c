// Open MPI's reduction along one chain of all ranks (coll_base_reduce.c), segment by segment: the next
// segment, or the next child's, is on its way while one is combined.
#include "trees.hpp"

namespace manynode::collectives {

void reduce_pipeline(const Task& task, Messages& messages) {
  reduce_along(chain_tree(task, 1), Segments(task.bytes, task.segment, kElementBytes), messages);
}

}  // namespace manynode::collectives
