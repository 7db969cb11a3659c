// All neighbour collectives: receives from the sources, then sends to the destinations, all posted at once, as in MPICH
// and Open MPI. A neighbour may occur several times; its messages then match in order. The rank's own data stays where
// it is, and a message without bytes is left out on both sides.
#include "algorithm.hpp"

namespace manynode::collectives {

void exchange_with_neighbors(const Task& task, Messages& messages) {
  const auto moves = [&](std::uint64_t rank, std::uint64_t bytes) {
    return static_cast<int>(rank) != task.rank && bytes > 0;
  };
  for (std::size_t i = 0; i < task.sources.size(); ++i) {
    if (static_cast<int>(task.sources[i]) == task.rank) {
      messages.copy(task.recv_bytes[i]);
    }
    if (moves(task.sources[i], task.recv_bytes[i])) {
      messages.post_recv(static_cast<int>(task.sources[i]), task.recv_bytes[i]);
    }
  }
  for (std::size_t i = 0; i < task.destinations.size(); ++i) {
    if (moves(task.destinations[i], task.send_bytes[i])) {
      messages.post_send(static_cast<int>(task.destinations[i]), task.send_bytes[i]);
    }
  }
  messages.complete();
}

}  // namespace manynode::collectives
