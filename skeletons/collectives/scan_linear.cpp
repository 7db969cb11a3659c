// Scan along the ranks, Open MPI's coll/basic: each rank combines what the rank below sends with its own and sends it
// to the one above; p - 1 messages one after the other. For exscan, what comes from below is the result, and the last
// rank combines nothing.
#include "algorithm.hpp"

namespace manynode::collectives {

void scan_linear(const Task& task, Messages& messages) {
  const bool last = task.rank == task.size - 1;
  if (!task.exclusive || (task.rank > 0 && !last)) {
    messages.copy(task.bytes);
  }
  if (task.rank > 0 && (!last || !task.exclusive)) {
    messages.allocate({{task.bytes}});
  }
  if (task.rank > 0) {
    messages.recv(task.rank - 1, task.bytes);
    if (!last || !task.exclusive) {
      messages.combine(task.bytes);
    }
  }
  if (!last) {
    messages.send(task.rank + 1, task.bytes);
  }
}

}  // namespace manynode::collectives
