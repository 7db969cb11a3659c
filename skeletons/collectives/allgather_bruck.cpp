// Allgather after Bruck: in round k, a rank sends all its data, limited to what is still needed, to the rank 2^k below
// it; ceil(log2 p) rounds for any number of ranks. Bruck et al., "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", 1997.
#include "algorithm.hpp"

namespace manynode::collectives {

void allgather_bruck(const Task& task, Messages& messages) {
  for (int have = 1; have < task.size; have *= 2) {
    // This rank has the shares from its own on, and those that come follow them.
    const int count = std::min(have, task.size - have);
    messages.exchange_filled((task.rank - have + task.size) % task.size, task.block_sum(task.rank, count),
                             (task.rank + have) % task.size, task.block_sum(task.rank + have, count));
  }
}

}  // namespace manynode::collectives
