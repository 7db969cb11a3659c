// Gather along a binomial tree: each rank collects its subtree's shares and passes them on in one message.
#include "algorithm.hpp"

namespace manynode::collectives {

void gather_binomial(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  for (int bit = 1; bit < task.size; bit *= 2) {
    // The subtree of a rank whose lowest set bit is `bit` has the ranks from it up to it + bit, where they exist.
    const auto subtree = [&](int r) { return static_cast<std::uint64_t>(std::min(bit, task.size - r)) * task.bytes; };
    if ((relative & bit) != 0) {
      messages.send(absolute(relative - bit), subtree(relative));
      return;
    }
    if (relative + bit < task.size) {
      messages.recv(absolute(relative + bit), subtree(relative + bit));
    }
  }
}

}  // namespace manynode::collectives
