// Allreduce on a ring: p - 1 steps in which each rank combines one part and passes it on, then p - 1 steps in which the
// finished parts go round. Each rank moves 2 (1 - 1/p) of the message and talks to its two neighbours only.
// Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009. Open MPI's posts a
// receive before it waits for the one before.
#include "ring_reduction.hpp"

namespace manynode::collectives {

void allreduce_ring(const Task& task, Messages& messages) {
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  const auto part = [&](int i) {
    const int index = ((i % task.size) + task.size) % task.size;
    return part_start(task.bytes, task.size, index + 1) - part_start(task.bytes, task.size, index);
  };
  // Open MPI receives the next part while it combines the last one.
  if (task.library == Library::OpenMpi) {
    messages.allocate({{part(0)}, {part(0)}});
  } else {
    messages.allocate({{part(0)}});
  }
  messages.copy(task.bytes);
  if (task.library == Library::OpenMpi && task.bytes / kElementBytes >= static_cast<std::uint64_t>(task.size)) {
    reduce_on_ring(task, [&](int step) { return part(task.rank - step); }, messages);
  } else {
    for (int step = 0; step < task.size - 1; ++step) {
      messages.exchange(next, part(task.rank - step), previous, part(task.rank - step - 1));
      messages.combine(part(task.rank - step - 1));
    }
  }
  for (int step = 0; step < task.size - 1; ++step) {
    messages.exchange(next, part(task.rank + 1 - step), previous, part(task.rank - step));
  }
}

}  // namespace manynode::collectives
