// Open MPI's reduction along a binary tree (coll_base_reduce.c), segment by segment: the next
// segment, or the next child's, is on its way while one is combined.
#include "trees.hpp"

namespace manynode::collectives {

void reduce_binary(const Task& task, Messages& messages) {
  reduce_along(binary_tree(task), Segments(task.bytes, task.segment, kElementBytes), messages);
}

}  // namespace manynode::collectives
