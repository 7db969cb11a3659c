// Allgather by recursive doubling: partners at distance 2^k exchange all that they have. It needs a power of two; for
// other numbers of ranks it is Bruck's algorithm, which has as many rounds.
#include "algorithms.hpp"

namespace manynode::collectives {

void allgather_recursive_doubling(const Task& task, Messages& messages) {
  if (power_of_two_below(task.size) != task.size) {
    allgather_bruck(task, messages);
    return;
  }
  messages.copy(task.block(task.rank));
  for (int distance = 1; distance < task.size; distance *= 2) {
    const int partner = task.rank ^ distance;
    const auto half = [&](int rank) { return task.block_sum(rank / distance * distance, distance); };
    messages.exchange_filled(partner, half(task.rank), partner, half(partner));
  }
}

}  // namespace manynode::collectives
