// Reduce-scatter in p - 1 exchanges: in step k, each rank sends its contribution to the share of the rank k above it,
// and combines what the rank k below contributes to its own. Thakur, Rabenseifner and Gropp, 2005, section 4.3.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_scatter_pairwise(const Task& task, Messages& messages) {
  messages.allocate({{task.block(task.rank)}});
  messages.copy(task.block(task.rank));
  for (int step = 1; step < task.size; ++step) {
    const int destination = (task.rank + step) % task.size;
    messages.exchange_filled(destination, task.block(destination), (task.rank - step + task.size) % task.size,
                             task.block(task.rank));
    messages.combine(task.block(task.rank));
  }
}

}  // namespace manynode::collectives
