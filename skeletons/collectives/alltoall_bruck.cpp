// All-to-all after Bruck, for short messages: in round k, a rank sends the one 2^k above it all blocks whose remaining
// distance has bit k set. There are ceil(log2 p) messages instead of p - 1, but each block travels once per set bit of
// its distance. All blocks have the same size. Bruck et al., "Efficient algorithms for all-to-all communications in
// multiport message-passing systems", 1997. Before the rounds all blocks are rotated, and after them brought into
// order: MPICH (alltoall_intra_brucks.c) copies them twice for that, Open MPI (coll_base_alltoall.c) once. The blocks
// of a round do not lie side by side. MPICH packs them before it sends them, and unpacks what it has received. Open MPI
// packs fragment by fragment while others are under way, which costs no copies beyond those of any message; but it
// receives into another buffer, and copies the blocks back.
#include "algorithm.hpp"

namespace manynode::collectives {

void alltoall_bruck(const Task& task, Messages& messages) {
  const std::uint64_t all = static_cast<std::uint64_t>(task.size) * task.bytes;
  messages.allocate({{all}});
  messages.copy(all);
  for (int bit = 1; bit < task.size; bit *= 2) {
    // The number of distances 0 ... p - 1 with this bit set: half of each whole period, plus the remainder.
    const int blocks = task.size / (2 * bit) * bit + std::max(task.size % (2 * bit) - bit, 0);
    const std::uint64_t bytes = static_cast<std::uint64_t>(blocks) * task.bytes;
    if (task.library == Library::Mpich) {
      messages.copy(bytes);
    }
    messages.exchange((task.rank + bit) % task.size, bytes, (task.rank - bit + task.size) % task.size, bytes);
    messages.copy(bytes);
  }
  messages.copy(all);
  if (task.library == Library::Mpich) {
    messages.copy(all);
  }
}

}  // namespace manynode::collectives
