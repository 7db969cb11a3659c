// Scatter along a binomial tree, the gather backwards: each rank receives the shares of its subtree in one message and
// hands the halves on, the largest first.
#include "algorithm.hpp"

namespace manynode::collectives {

void scatter_binomial(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  const auto subtree = [&](int r, int bit) {
    return static_cast<std::uint64_t>(std::min(bit, task.size - r)) * task.bytes;
  };
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
}

}  // namespace manynode::collectives
