// Broadcast of medium messages: the root scatters parts along a binomial tree, then ranks collect the parts by
// recursive doubling, in log2(p) rounds where the ring of bcast_scatter_allgather has p - 1. With a number of ranks
// that is no power of two they are collected after Bruck, in as many rounds. Thakur, Rabenseifner and Gropp, 2005,
// section 4.2.
#include "scatter_parts.hpp"

namespace manynode::collectives {

void bcast_scatter_recursive_doubling(const Task& task, Messages& messages) {
  const ScatteredParts parts(task);
  parts.scatter(messages);
  const int size = task.size;
  const int mine = parts.relative();
  if (power_of_two_below(size) == size) {
    for (int have = 1; have < size; have *= 2) {
      const int partner = mine ^ have;
      messages.exchange(parts.absolute(partner), parts.bytes(mine / have * have, have), parts.absolute(partner),
                        parts.bytes(partner / have * have, have));
    }
    return;
  }
  for (int have = 1; have < size; have *= 2) {
    const int count = std::min(have, size - have);
    messages.exchange(parts.absolute((mine - have + size) % size), parts.bytes(mine, count),
                      parts.absolute((mine + have) % size), parts.bytes((mine + have) % size, count));
  }
}

}  // namespace manynode::collectives
