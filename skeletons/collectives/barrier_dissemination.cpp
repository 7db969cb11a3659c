// Barrier by dissemination: in round k, rank r sends to r + 2^k and receives from r - 2^k; ceil(log2 p) rounds.
// Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
#include "algorithm.hpp"

namespace manynode::collectives {

void barrier_dissemination(const Task& task, Messages& messages) {
  for (int distance = 1; distance < task.size; distance *= 2) {
    messages.exchange((task.rank + distance) % task.size, 0, (task.rank - distance + task.size) % task.size, 0);
  }
}

}  // namespace manynode::collectives
