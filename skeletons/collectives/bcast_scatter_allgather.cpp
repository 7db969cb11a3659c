// Broadcast for long messages (van de Geijn): the root scatters parts of the message along a binomial tree, then the
// parts go round a ring. Each rank receives the message about once, where the binomial tree sends it log2(p) times.
// Thakur, Rabenseifner and Gropp, 2005, section 4.2.
#include "algorithm.hpp"

namespace manynode::collectives {

void bcast_scatter_allgather(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  const auto start = [&](int r) { return part_start(task.bytes, task.size, std::min(r, task.size)); };
  const auto subtree = [&](int r, int bit) { return start(r + bit) - start(r); };

  int bit = 1;
  while (bit < task.size && (relative & bit) == 0) {
    bit *= 2;
  }
  if (relative != 0) {
    messages.recv(absolute(relative - bit), subtree(relative, bit));
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (relative + bit < task.size) {
      messages.send(absolute(relative + bit), subtree(relative + bit, bit));
    }
  }

  for (int step = 0; step < task.size - 1; ++step) {
    const int given = (relative - step + task.size) % task.size;
    const int taken = (relative - step - 1 + task.size) % task.size;
    messages.exchange(absolute((relative + 1) % task.size), subtree(given, 1),
                      absolute((relative - 1 + task.size) % task.size), subtree(taken, 1));
  }
}

}  // namespace manynode::collectives
