// All-to-all with everything posted at once, receives first (Open MPI's basic linear, coll_base_alltoall.c); without
// the batches of alltoall_scattered. Serves MPI_Alltoallv and MPI_Alltoallw as well: a message without bytes is left
// out.
#include "algorithm.hpp"

namespace manynode::collectives {

void alltoall_linear(const Task& task, Messages& messages) {
  messages.copy(task.sent_to(task.rank));
  for (int step = 1; step < task.size; ++step) {
    const int source = (task.rank + step) % task.size;
    if (task.received_from(source) > 0) {
      messages.post_recv(source, task.received_from(source));
    }
  }
  for (int step = 1; step < task.size; ++step) {
    const int destination = (task.rank - step + task.size) % task.size;
    if (task.sent_to(destination) > 0) {
      messages.post_send(destination, task.sent_to(destination));
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
