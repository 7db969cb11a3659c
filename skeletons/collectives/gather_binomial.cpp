// Gather along a binomial tree: each rank collects its subtree's shares and passes them on in one message. Ranks
// collect them in a temporary buffer, where their own share is copied first: in MPICH (gather_intra_binomial.c) only
// shares below 1 KiB, in Open MPI (coll_base_gather.c) those of ranks with children. A root other than rank 0 rotates
// all shares in Open MPI.
#include "algorithm.hpp"

namespace manynode::collectives {

void gather_binomial(const Task& task, Messages& messages) {
  constexpr std::uint64_t kVerySmall = 1024;  // MPIR_CVAR_GATHER_VSMALL_MSG_SIZE
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  // The subtree's shares; those of all where the root turns them.
  int below = 1;
  while (below < task.size && (relative & below) == 0) {
    below *= 2;
  }
  if (relative % 2 == 0 && (relative != 0 || task.root != 0)) {
    messages.allocate({{static_cast<std::uint64_t>(std::min(below, task.size - relative)) * task.bytes}});
  }
  if (relative == 0 || (task.library == Library::OpenMpi ? relative % 2 == 0 : task.bytes < kVerySmall)) {
    messages.copy(task.bytes);
  }
  for (int bit = 1; bit < task.size; bit *= 2) {
    // The subtree of a rank whose lowest set bit is `bit` has the ranks from it up to it + bit, where they exist.
    const auto subtree = [&](int r) { return static_cast<std::uint64_t>(std::min(bit, task.size - r)) * task.bytes; };
    if ((relative & bit) != 0) {
      messages.send(absolute(relative - bit), subtree(relative));
      return;
    }
    if (relative + bit < task.size) {
      messages.recv(absolute(relative + bit), subtree(relative + bit));
    }
  }
  if (task.library == Library::OpenMpi && task.root != 0) {
    messages.copy(static_cast<std::uint64_t>(task.size - task.root) * task.bytes);
    messages.copy(static_cast<std::uint64_t>(task.root) * task.bytes);
  }
}

}  // namespace manynode::collectives
