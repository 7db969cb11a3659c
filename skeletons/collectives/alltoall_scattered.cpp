// All-to-all with everything posted at once, receives first, each rank starting at its own neighbour so that not all
// send to the same one; MPICH does so, in batches of 32, for medium messages (also known as spread). Serves
// MPI_Alltoallv and MPI_Alltoallw as well.
#include "algorithm.hpp"

namespace manynode::collectives {

void alltoall_scattered(const Task& task, Messages& messages) {
  constexpr int kBatch = 32;
  messages.copy(task.sent_to(task.rank));
  for (int first = 1; first < task.size; first += kBatch) {
    const int end = std::min(first + kBatch, task.size);
    for (int step = first; step < end; ++step) {
      const int source = (task.rank + step) % task.size;
      if (task.received_from(source) > 0) {
        messages.post_recv(source, task.received_from(source));
      }
    }
    for (int step = first; step < end; ++step) {
      const int destination = (task.rank - step + task.size) % task.size;
      if (task.sent_to(destination) > 0) {
        messages.post_send(destination, task.sent_to(destination));
      }
    }
    messages.complete();
  }
}

}  // namespace manynode::collectives
