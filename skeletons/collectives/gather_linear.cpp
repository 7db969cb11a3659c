// Gather by the root alone: it posts a receive for each other rank's share, then waits for all.
#include "algorithm.hpp"

namespace manynode::collectives {

void gather_linear(const Task& task, Messages& messages) {
  if (task.rank != task.root) {
    messages.send(task.root, task.bytes);
    return;
  }
  for (int rank = 0; rank < task.size; ++rank) {
    if (rank != task.root) {
      messages.post_recv(rank, task.bytes);
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
