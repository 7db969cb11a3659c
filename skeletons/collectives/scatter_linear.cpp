// Scatter by the root alone. MPICH's sends all other ranks their shares at once; Open MPI's (coll_base_scatter.c,
// coll_basic_scatterv.c) sends one after the other. Serves MPI_Scatterv as well: a share without bytes has no message.
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
    if (rank == task.root) {
      messages.copy(task.block(rank));
    } else if (task.block(rank) > 0) {
      messages.post_send(rank, task.block(rank));
    }
    if (task.library == Library::OpenMpi) {
      messages.complete();
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
