// Gather by the root alone. MPICH's posts a receive for each other rank's share, then waits for all; Open MPI's
// (coll_base_gather.c, coll_basic_gatherv.c) receives one share after the other. Serves MPI_Gatherv as well: a share
// without bytes has no message.
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
    if (rank == task.root) {
      messages.copy(task.block(rank));
    } else if (task.block(rank) > 0) {
      messages.post_recv(rank, task.block(rank));
    }
    if (task.library == Library::OpenMpi) {
      messages.complete();
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
