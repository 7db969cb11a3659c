// Open MPI's broadcast along a binary tree (coll_base_bcast.c), segment by segment.
#include "trees.hpp"

namespace manynode::collectives {

void bcast_binary(const Task& task, Messages& messages) {
  bcast_along(binary_tree(task), Segments(task.bytes, task.segment), messages);
}

}  // namespace manynode::collectives
