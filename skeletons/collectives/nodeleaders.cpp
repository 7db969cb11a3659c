// Who shares a node, and the collectives of both levels.
#include "nodeleaders.hpp"

#include <algorithm>
#include <string>

#include "manynode/error_report.hpp"
#include "rules/rules.hpp"

namespace manynode::collectives {
namespace {

void run(CallKind kind, std::span<const int> group, int place, int root, const Task& task, Messages& messages) {
  if (group.size() < 2) {
    return;
  }
  Task part = task;
  part.rank = place;
  part.size = static_cast<int>(group.size());
  part.root = root;
  part.segment = 0;
  Messages between = messages.among(group);
  rules_of(task.library)(kind, part.size, part.bytes)(part, between);
}

}  // namespace

NodeLeaders::NodeLeaders(const Task& task, const Messages& messages) {
  const int node = messages.node_of(task.rank);
  int first = task.rank;
  while (first > 0 && messages.node_of(first - 1) == node) {
    --first;
  }
  for (int rank = first; rank < task.size && messages.node_of(rank) == node; ++rank) {
    members_.push_back(rank);
  }
  place_ = task.rank - first;
  if (!leads()) {
    return;
  }
  std::vector<int> nodes;
  for (int rank = 0; rank < task.size; ++rank) {
    const int other = messages.node_of(rank);
    if (nodes.empty() || nodes.back() != other) {
      nodes.push_back(other);
      leaders_.push_back(rank);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) {
    throw UserError("ranks of a node are not neighbours in a communicator", "collectives", "node_leader",
                    "communicators whose ranks of a node follow each other", "choose another algorithm");
  }
}

void NodeLeaders::within_node(CallKind kind, const Task& task, Messages& messages) const {
  run(kind, members_, place_, 0, task, messages);
}

void NodeLeaders::among_leaders(CallKind kind, int rank, const Task& task, Messages& messages) const {
  // The leader of a node is the last one not above the rank.
  const auto place_of = [&](int of) {
    return static_cast<int>(std::upper_bound(leaders_.begin(), leaders_.end(), of) - leaders_.begin()) - 1;
  };
  run(kind, leaders_, place_of(task.rank), place_of(rank), task, messages);
}

}  // namespace manynode::collectives
