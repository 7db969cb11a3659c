// All-to-all after Bruck, for short messages: in round k, a rank sends the one 2^k above it all blocks whose distance
// yet to go has bit k set; ceil(log2 p) messages in place of p - 1, but each block travels as often as its distance has
// bits. Blocks have one size. Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", 1997.
#include "algorithm.hpp"

namespace manynode::collectives {

void alltoall_bruck(const Task& task, Messages& messages) {
  for (int bit = 1; bit < task.size; bit *= 2) {
    // Of the distances 0 ... p - 1, those with this bit: half of each whole period, and what is left over.
    const int blocks = task.size / (2 * bit) * bit + std::max(task.size % (2 * bit) - bit, 0);
    const std::uint64_t bytes = static_cast<std::uint64_t>(blocks) * task.bytes;
    messages.exchange((task.rank + bit) % task.size, bytes, (task.rank - bit + task.size) % task.size, bytes);
  }
}

}  // namespace manynode::collectives
