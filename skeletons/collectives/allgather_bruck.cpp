// Allgather after Bruck: in round k, a rank sends all its data, limited to what is still needed, to the rank 2^k below
// it; ceil(log2 p) rounds for any number of ranks. Bruck et al., "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", 1997. The shares then have to be rotated into the order of the ranks. MPICH
// (allgather_intra_brucks.c) collects them in a buffer of its own and copies them out in two parts. Open MPI
// (coll_base_allgather.c) collects them in the receive buffer, and moves the first part out of the way and back.
#include "algorithm.hpp"

namespace manynode::collectives {

void allgather_bruck(const Task& task, Messages& messages) {
  const std::uint64_t own = task.block(task.rank);
  if (task.library == Library::Mpich) {
    messages.allocate({{task.block_sum(0, task.size)}});
  } else if (task.rank != 0) {
    messages.allocate({{task.block_sum(task.rank, task.size - task.rank)}});
  }
  messages.copy(own);
  for (int have = 1; have < task.size; have *= 2) {
    // This rank has the shares from its own on, and those that come follow them.
    const int count = std::min(have, task.size - have);
    messages.exchange_filled((task.rank - have + task.size) % task.size, task.block_sum(task.rank, count),
                             (task.rank + have) % task.size, task.block_sum(task.rank + have, count));
  }
  // From the own share to the last rank's, and those before the own.
  const std::uint64_t first = task.block_sum(task.rank, task.size - task.rank);
  const std::uint64_t second = task.block_sum(0, task.rank);
  if (task.library == Library::OpenMpi && task.rank == 0) {
    return;
  }
  messages.copy(first);
  messages.copy(second);
  if (task.library == Library::OpenMpi) {
    messages.copy(first);
  }
}

}  // namespace manynode::collectives
