// Reduction in two levels (MPICH's reduce_intra_smp.c): within each node to its leader, among the leaders to that of
// the root's node, then from there to the root.
#include "nodeleaders.hpp"

namespace manynode::collectives {

void reduce_node_leader(const Task& task, Messages& messages) {
  const NodeLeaders nodes(task, messages);
  nodes.within_node(CallKind::Reduce, task, messages);
  if (nodes.leads()) {
    nodes.among_leaders(CallKind::Reduce, task.root, task, messages);
  }
  if (task.rank == task.root && !nodes.leads()) {
    messages.recv(nodes.leader(), task.bytes);
  } else if (task.rank != task.root && nodes.leads() && nodes.on_node(task.root)) {
    messages.send(task.root, task.bytes);
  }
}

}  // namespace manynode::collectives
