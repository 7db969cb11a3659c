// Allgather by exchanges with two neighbours in turn, for an even number of ranks (coll_base_allgather.c; Chen and
// Yuan, "Performance evaluation of allgather algorithms on terascale Linux cluster with fast Ethernet", 2005): p / 2
// steps, after the first one with two shares each. With an odd number of ranks it is a ring, as there.
#include "algorithms.hpp"

namespace manynode::collectives {

void allgather_neighbor_exchange(const Task& task, Messages& messages) {
  const int size = task.size;
  if (size % 2 == 1) {
    allgather_ring(task, messages);
    return;
  }
  messages.copy(task.block(task.rank));
  const bool even = task.rank % 2 == 0;
  const int above = (task.rank + 1) % size;
  const int below = (task.rank - 1 + size) % size;
  const std::array<int, 2> neighbors = {even ? above : below, even ? below : above};
  // The first of the pair of shares that came from each neighbour last, or that this rank began with.
  std::array<int, 2> from = {even ? task.rank : below, even ? task.rank : below};
  const std::array<int, 2> shift = {even ? 2 : size - 2, even ? size - 2 : 2};

  messages.exchange_filled(neighbors[0], task.block(task.rank), neighbors[0], task.block(neighbors[0]));
  int sent = from[0];
  for (int step = 1; step < size / 2; ++step) {
    const std::size_t side = step % 2;
    from[side] = (from[side] + shift[side]) % size;
    messages.exchange_filled(neighbors[side], task.block_sum(sent, 2), neighbors[side], task.block_sum(from[side], 2));
    sent = from[side];
  }
}

}  // namespace manynode::collectives
