// Gather by the root alone, which asks one rank after the other (Open MPI's linear with synchronisation,
// coll_base_gather.c): an empty message asks for a share, whose first segment the root waits for before it asks the
// next rank. As in Open MPI 4.1 and 5.0, the first segment is the whole share by default; the empty rest is sent
// nevertheless.
#include "algorithm.hpp"

namespace manynode::collectives {

void gather_linear_sync(const Task& task, Messages& messages) {
  const std::uint64_t first = task.segment == 0 ? task.bytes : std::min(task.bytes, task.segment);
  if (task.rank != task.root) {
    messages.recv(task.root, 0);
    messages.send(task.root, first);
    messages.send(task.root, task.bytes - first);
    return;
  }
  for (int rank = 0; rank < task.size; ++rank) {
    if (rank == task.root) {
      continue;
    }
    const Messages::Posted awaited = messages.post_recv(rank, first);
    messages.send(rank, 0);
    messages.post_recv(rank, task.bytes - first);
    messages.complete({&awaited, 1});
  }
  messages.copy(task.bytes);
  messages.complete();
}

}  // namespace manynode::collectives
