// Gather by the root alone: it posts a receive for each other rank's share, then waits for all. Serves MPI_Gatherv as
// well: a share without bytes has no message.
#include "algorithm.hpp"

namespace manynode::collectives {

void gather_linear(const Task& task, Messages& messages) {
  if (task.rank != task.root) {
    if (task.bytes > 0) {
      messages.send(task.root, task.bytes);
    }
    return;
  }
  for (int rank = 0; rank < task.size; ++rank) {
    if (rank != task.root && task.block(rank) > 0) {
      messages.post_recv(rank, task.block(rank));
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
