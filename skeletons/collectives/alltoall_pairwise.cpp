// All-to-all in p - 1 exchanges: in step k, each rank sends to the one k above it and receives from the one k below;
// with a power of two, partners exchange with each other (rank xor k), as MPICH does for long messages. Serves
// MPI_Alltoallv and MPI_Alltoallw as well: a message without bytes is left out, on both sides.
#include "algorithm.hpp"

namespace manynode::collectives {

void alltoall_pairwise(const Task& task, Messages& messages) {
  const auto sent = [&](int peer) { return task.send_bytes.empty() ? task.bytes : task.send_bytes[peer]; };
  const auto received = [&](int peer) { return task.recv_bytes.empty() ? task.bytes : task.recv_bytes[peer]; };
  const bool power_of_two = power_of_two_below(task.size) == task.size;
  for (int step = 1; step < task.size; ++step) {
    const int destination = power_of_two ? task.rank ^ step : (task.rank + step) % task.size;
    const int source = power_of_two ? task.rank ^ step : (task.rank - step + task.size) % task.size;
    if (received(source) > 0) {
      messages.post_recv(source, received(source));
    }
    if (sent(destination) > 0) {
      messages.post_send(destination, sent(destination));
    }
    messages.complete();
  }
}

}  // namespace manynode::collectives
