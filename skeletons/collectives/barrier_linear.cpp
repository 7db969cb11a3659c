// Barrier by rank 0 alone (Open MPI's basic linear, coll_base_barrier.c): it hears from all others, in any order, then
// sends to one after the other.
#include "algorithm.hpp"

namespace manynode::collectives {

void barrier_linear(const Task& task, Messages& messages) {
  if (task.rank != 0) {
    messages.send(0, 0);
    messages.recv(0, 0);
    return;
  }
  for (int rank = 1; rank < task.size; ++rank) {
    messages.post_recv(rank, 0);
  }
  messages.complete();
  for (int rank = 1; rank < task.size; ++rank) {
    messages.send(rank, 0);
  }
}

}  // namespace manynode::collectives
