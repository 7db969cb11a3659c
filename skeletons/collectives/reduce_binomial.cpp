// Reduction along a binomial tree, the broadcast backwards: a rank combines what it receives from those with a lower
// bit more (counted from the root), then sends to the one without its lowest set bit. MPICH's, which first copies the
// rank's own data.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_binomial(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  if (relative % 2 == 0 && relative + 1 < task.size) {
    messages.allocate({{task.bytes}, {relative == 0 ? 0 : task.bytes}});  // what comes in, and what goes on
  }
  messages.copy(task.bytes);
  for (int bit = 1; bit < task.size; bit *= 2) {
    if ((relative & bit) != 0) {
      messages.send(absolute(relative - bit), task.bytes);
      return;
    }
    if (relative + bit < task.size) {
      messages.recv(absolute(relative + bit), task.bytes);
      messages.combine(task.bytes);
    }
  }
}

}  // namespace manynode::collectives
