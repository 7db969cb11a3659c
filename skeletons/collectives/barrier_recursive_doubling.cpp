// Barrier by recursive doubling (coll_base_barrier.c): partners at distance 2^k exchange empty messages. With a number
// of ranks that is no power of two, those from the largest power of two on report to one below before the rounds and
// hear from it after them.
#include "algorithm.hpp"

namespace manynode::collectives {

void barrier_recursive_doubling(const Task& task, Messages& messages) {
  const int power = power_of_two_below(task.size);
  const int rest = task.size - power;
  if (task.rank >= power) {
    // Open MPI posts the receive of the release together with the report.
    messages.exchange(task.rank - power, 0, task.rank - power, 0);
    return;
  }
  if (task.rank < rest) {
    messages.recv(task.rank + power, 0);
  }
  for (int distance = 1; distance < power; distance *= 2) {
    messages.exchange(task.rank ^ distance, 0, task.rank ^ distance, 0);
  }
  if (task.rank < rest) {
    messages.send(task.rank + power, 0);
  }
}

}  // namespace manynode::collectives
