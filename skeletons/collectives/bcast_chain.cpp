// Open MPI's broadcast along several chains below the root (coll_base_bcast.c), four by default, segment by segment.
#include "trees.hpp"

namespace manynode::collectives {

void bcast_chain(const Task& task, Messages& messages) {
  constexpr int kChains = 4;  // coll_tuned_bcast_algorithm_chain_fanout
  bcast_along(chain_tree(task, kChains), Segments(task.bytes, task.segment), messages);
}

}  // namespace manynode::collectives
