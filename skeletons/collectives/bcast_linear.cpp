// Broadcast by the root alone: one message to each other rank, all posted at once.
#include "algorithm.hpp"

namespace manynode::collectives {

void bcast_linear(const Task& task, Messages& messages) {
  if (task.rank != task.root) {
    messages.recv(task.root, task.bytes);
    return;
  }
  for (int rank = 0; rank < task.size; ++rank) {
    if (rank != task.root) {
      messages.post_send(rank, task.bytes);
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
