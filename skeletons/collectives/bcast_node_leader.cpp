// Broadcast in two levels (MPICH's bcast_intra_smp.c): from the root to the leader of its node, among the leaders of
// all nodes, then within each node.
#include "nodeleaders.hpp"

namespace manynode::collectives {

void bcast_node_leader(const Task& task, Messages& messages) {
  const NodeLeaders nodes(task, messages);
  if (task.rank == task.root && !nodes.leads()) {
    messages.send(nodes.leader(), task.bytes);
  } else if (task.rank != task.root && nodes.leads() && nodes.on_node(task.root)) {
    messages.recv(task.root, task.bytes);
  }
  if (nodes.leads()) {
    nodes.among_leaders(CallKind::Bcast, task.root, task, messages);
  }
  nodes.within_node(CallKind::Bcast, task, messages);
}

}  // namespace manynode::collectives
