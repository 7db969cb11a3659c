// All-to-all in p - 1 exchanges: in step k, each rank sends to the one k above it and receives from the one k below;
// with a power of two, partners exchange with each other (rank xor k), as MPICH does for long messages and
// Open MPI does not. Serves MPI_Alltoallv and MPI_Alltoallw as well: a message without bytes is left out, on both
// sides.
#include "algorithm.hpp"

namespace manynode::collectives {

void alltoall_pairwise(const Task& task, Messages& messages) {
  messages.copy(task.sent_to(task.rank));
  const bool power_of_two = task.library == Library::Mpich && power_of_two_below(task.size) == task.size;
  for (int step = 1; step < task.size; ++step) {
    const int destination = power_of_two ? task.rank ^ step : (task.rank + step) % task.size;
    const int source = power_of_two ? task.rank ^ step : (task.rank - step + task.size) % task.size;
    if (task.received_from(source) > 0) {
      messages.post_recv(source, task.received_from(source));
    }
    if (task.sent_to(destination) > 0) {
      messages.post_send(destination, task.sent_to(destination));
    }
    messages.complete();
  }
}

}  // namespace manynode::collectives
