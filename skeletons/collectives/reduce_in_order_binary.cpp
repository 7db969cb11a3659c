// Open MPI's reduction along a binary tree that keeps the order of ranks (coll_base_reduce.c), for operations that do
// not commute. The tree's root is the last rank, which sends the result to the root of the call.
#include "trees.hpp"

namespace manynode::collectives {

void reduce_in_order_binary(const Task& task, Messages& messages) {
  const int last = task.size - 1;
  reduce_along(in_order_binary_tree(task), Segments(task.bytes, task.segment, kElementBytes), messages);
  if (task.root == last) {
    return;
  }
  if (task.rank == last) {
    messages.send(task.root, task.bytes);
  } else if (task.rank == task.root) {
    messages.recv(last, task.bytes);
  }
}

}  // namespace manynode::collectives
