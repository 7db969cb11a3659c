// Allreduce as a reduction to rank 0 and a broadcast, by the algorithms that the library's rules choose for these (Open
// MPI's "nonoverlapping", coll_base_allreduce.c).
#include "rules/rules.hpp"

namespace manynode::collectives {

void allreduce_nonoverlapping(const Task& task, Messages& messages) {
  Task at_root = task;
  at_root.root = 0;
  at_root.segment = 0;
  rules_of(task.library)(CallKind::Reduce, task.size, task.bytes)(at_root, messages);
  rules_of(task.library)(CallKind::Bcast, task.size, task.bytes)(at_root, messages);
}

}  // namespace manynode::collectives
