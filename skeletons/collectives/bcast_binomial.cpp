// Broadcast along a binomial tree: a rank receives from the one without its lowest set bit (counted from the root),
// then sends to those with a lower bit more; ceil(log2 p) rounds of the whole message.
#include "algorithm.hpp"

namespace manynode::collectives {

void bcast_binomial(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  int bit = 1;
  while (bit < task.size && (relative & bit) == 0) {
    bit *= 2;
  }
  if (relative != 0) {
    messages.recv(absolute(relative - bit), task.bytes);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (relative + bit < task.size) {
      messages.send(absolute(relative + bit), task.bytes);
    }
  }
}

}  // namespace manynode::collectives
