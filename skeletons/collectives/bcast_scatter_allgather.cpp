// Broadcast for long messages (van de Geijn): the root scatters parts of the message along a binomial tree, then the
// parts go round a ring. Each rank receives the message about once, where the binomial tree sends it log2(p) times.
// Thakur, Rabenseifner and Gropp, 2005, section 4.2.
#include "scatter_parts.hpp"

namespace manynode::collectives {

void bcast_scatter_allgather(const Task& task, Messages& messages) {
  const ScatteredParts parts(task);
  parts.scatter(messages);
  const int size = task.size;
  const int mine = parts.relative();
  for (int step = 0; step < size - 1; ++step) {
    messages.exchange(parts.absolute((mine + 1) % size), parts.bytes((mine - step + size) % size, 1),
                      parts.absolute((mine - 1 + size) % size), parts.bytes((mine - step - 1 + size) % size, 1));
  }
}

}  // namespace manynode::collectives
