// Barrier in two levels (MPICH's barrier_intra_smp.c): a barrier within each node, one among the leaders of all nodes,
// and a broadcast of nothing within each node, where MPICH's has one byte.
#include "nodeleaders.hpp"

namespace manynode::collectives {

void barrier_node_leader(const Task& task, Messages& messages) {
  const NodeLeaders nodes(task, messages);
  nodes.within_node(CallKind::Barrier, task, messages);
  if (nodes.leads()) {
    nodes.among_leaders(CallKind::Barrier, task.rank, task, messages);
  }
  nodes.within_node(CallKind::Bcast, task, messages);
}

}  // namespace manynode::collectives
