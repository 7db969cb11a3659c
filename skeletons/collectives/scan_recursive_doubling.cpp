// Scan by recursive doubling, MPICH's: in round k, partners at distance 2^k exchange the combination of their aligned
// groups of 2^k ranks. What comes from below is combined into this rank's result and into its group's combination, what
// comes from above into the latter only. Exscan differs in the result: what comes first is it, without combining.
#include "algorithm.hpp"

namespace manynode::collectives {

void scan_recursive_doubling(const Task& task, Messages& messages) {
  bool has_result = !task.exclusive;
  // Into this rank's result and into its group's combination.
  messages.allocate({{task.bytes}, {task.bytes}});
  messages.copy(task.exclusive ? task.bytes : 2 * task.bytes);
  for (int distance = 1; distance < task.size; distance *= 2) {
    const int partner = task.rank ^ distance;
    if (partner >= task.size) {
      continue;
    }
    messages.exchange(partner, task.bytes, partner, task.bytes);
    messages.combine(task.bytes);
    if (partner < task.rank) {
      if (has_result) {
        messages.combine(task.bytes);
      }
      has_result = true;
    }
  }
}

}  // namespace manynode::collectives
