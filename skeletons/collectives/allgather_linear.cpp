// Allgather as a gather to rank 0 and a broadcast of everything (Open MPI's basic linear, coll_base_allgather.c), by
// the algorithms that the library's rules choose for these; with shares that differ, ranks send them to rank 0
// directly.
#include "rules/rules.hpp"

namespace manynode::collectives {

void allgather_linear(const Task& task, Messages& messages) {
  Task part = task;
  part.root = 0;
  part.segment = 0;
  if (task.blocks.empty()) {
    rules_of(task.library)(CallKind::Gather, task.size, task.bytes)(part, messages);
  } else {
    part.bytes = task.block(task.rank);
    gather_linear(part, messages);
  }
  part.blocks = {};
  part.bytes = task.block_sum(0, task.size);
  rules_of(task.library)(CallKind::Bcast, task.size, part.bytes)(part, messages);
}

}  // namespace manynode::collectives
