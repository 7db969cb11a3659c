// Reduction by the root alone, which receives and combines the contributions from the highest rank down to the lowest,
// as Open MPI does (in this order a reduction need not be commutative; coll_base_reduce.c). Its result begins with the
// highest rank's contribution: the root copies its own only if it is that rank.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_linear(const Task& task, Messages& messages) {
  if (task.rank != task.root) {
    messages.send(task.root, task.bytes);
    return;
  }
  messages.allocate({{task.bytes}});
  if (task.root == task.size - 1) {
    messages.copy(task.bytes);
  }
  for (int rank = task.size - 1; rank >= 0; --rank) {
    if (rank != task.root) {
      messages.recv(rank, task.bytes);
      messages.combine(task.bytes);
    }
  }
}

}  // namespace manynode::collectives
