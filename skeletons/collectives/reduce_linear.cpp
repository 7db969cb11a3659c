// Reduction by the root alone, which receives and combines the contributions from the highest rank down to the lowest,
// as Open MPI does (in this order a reduction need not be commutative).
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_linear(const Task& task, Messages& messages) {
  if (task.rank != task.root) {
    messages.send(task.root, task.bytes);
    return;
  }
  for (int rank = task.size - 1; rank >= 0; --rank) {
    if (rank != task.root) {
      messages.recv(rank, task.bytes);
      messages.combine(task.bytes);
    }
  }
}

}  // namespace manynode::collectives
