// Allreduce in two levels (MPICH's allreduce_intra_smp.c): a reduction within each node to its leader, an allreduce
// among the leaders, and a broadcast within each node.
#include "nodeleaders.hpp"

namespace manynode::collectives {

void allreduce_node_leader(const Task& task, Messages& messages) {
  const NodeLeaders nodes(task, messages);
  nodes.within_node(CallKind::Reduce, task, messages);
  if (nodes.leads()) {
    nodes.among_leaders(CallKind::Allreduce, task.rank, task, messages);
  }
  nodes.within_node(CallKind::Bcast, task, messages);
}

}  // namespace manynode::collectives
