// Scatter by the root alone: it sends each other rank its share, all posted at once. Serves MPI_Scatterv as well: a
// share without bytes has no message.
#include "algorithm.hpp"

namespace manynode::collectives {

void scatter_linear(const Task& task, Messages& messages) {
  if (task.rank != task.root) {
    if (task.block(task.rank) > 0) {
      messages.recv(task.root, task.block(task.rank));
    }
    return;
  }
  for (int rank = 0; rank < task.size; ++rank) {
    if (rank != task.root && task.block(rank) > 0) {
      messages.post_send(rank, task.block(rank));
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
