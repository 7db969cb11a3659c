// Open MPI's broadcast along one chain of all ranks (coll_base_bcast.c), segment by segment: for a long message in many
// segments it takes the time of one message, whatever the number of ranks.
#include "trees.hpp"

namespace manynode::collectives {

void bcast_pipeline(const Task& task, Messages& messages) {
  bcast_along(chain_tree(task, 1), Segments(task.bytes, task.segment), messages);
}

}  // namespace manynode::collectives
