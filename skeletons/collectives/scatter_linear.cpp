// Scatter by the root alone: it sends each other rank its share, all posted at once.
#include "algorithm.hpp"

namespace manynode::collectives {

void scatter_linear(const Task& task, Messages& messages) {
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
