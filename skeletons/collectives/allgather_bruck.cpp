// Allgather after Bruck: in round k, a rank sends all its data, limited to what is still needed, to the rank 2^k below
// it; ceil(log2 p) rounds for any number of ranks. Bruck et al., "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", 1997.
#include "algorithm.hpp"

namespace manynode::collectives {

void allgather_bruck(const Task& task, Messages& messages) {
  for (int have = 1; have < task.size; have *= 2) {
    const auto bytes = static_cast<std::uint64_t>(std::min(have, task.size - have)) * task.bytes;
    messages.exchange((task.rank - have + task.size) % task.size, bytes, (task.rank + have) % task.size, bytes);
  }
}

}  // namespace manynode::collectives
