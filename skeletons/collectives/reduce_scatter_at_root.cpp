// Reduce-scatter as a reduction of everything to rank 0 along a binomial tree, which then hands out the shares itself
// (Open MPI's "basic linear", coll_base_reduce_scatter_block.c, and "non-overlapping", coll_base_reduce_scatter.c).
// With Open MPI's rules, these choose the reduction and the scatter, as there.
#include "rules/rules.hpp"

namespace manynode::collectives {

void reduce_scatter_at_root(const Task& task, Messages& messages) {
  Task at_root = task;
  at_root.root = 0;
  at_root.bytes = task.block_sum(0, task.size);
  at_root.segment = 0;
  if (task.library == Library::OpenMpi) {
    at_root.blocks = {};
    rules_of(task.library)(CallKind::Reduce, task.size, at_root.bytes)(at_root, messages);
  } else {
    reduce_binomial(at_root, messages);
  }
  at_root.blocks = task.blocks;
  at_root.bytes = task.bytes;
  if (task.library == Library::OpenMpi && task.blocks.empty()) {
    rules_of(task.library)(CallKind::Scatter, task.size, task.bytes)(at_root, messages);
  } else {
    scatter_linear(at_root, messages);
  }
}

}  // namespace manynode::collectives
