// The ranks of a communicator by node, for collectives in two levels: among the ranks of a node, and among the first
// ranks of all nodes, their leaders. As MPICH's "smp" collectives and Open MPI's coll/han; both levels take what the
// library's rules choose.
#pragma once

#include <span>
#include <vector>

#include "algorithm.hpp"

namespace manynode::collectives {

class NodeLeaders {
 public:
  // Throws UserError if ranks of a node are not neighbours in the communicator, or if nobody knows their nodes.
  NodeLeaders(const Task& task, const Messages& messages);

  bool leads() const { return place_ == 0; }
  // The leader of this rank's node, a rank of the communicator.
  int leader() const { return members_.front(); }
  bool on_node(int rank) const { return members_.front() <= rank && rank <= members_.back(); }

  // A collective among the ranks of this node, from or to its leader.
  void within_node(CallKind kind, const Task& task, Messages& messages) const;
  // One among the leaders, from or to that of `rank`'s node; only leaders call it.
  void among_leaders(CallKind kind, int rank, const Task& task, Messages& messages) const;

 private:
  std::vector<int> members_;  // of this node, in order
  int place_{0};              // of this rank among them
  std::vector<int> leaders_;  // in order; only at leaders
};

}  // namespace manynode::collectives
