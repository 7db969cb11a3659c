// Scatter along a binomial tree, the gather backwards: each rank receives the shares of its subtree in one message and
// hands the halves on, the largest first. A root other than rank 0 copies all shares into a temporary buffer, to have
// them in the order of the tree; every rank with children copies its own share out of its buffer (MPICH:
// scatter_intra_binomial.c, after it has sent the others; Open MPI: coll_base_scatter.c, before).
#include "algorithm.hpp"

namespace manynode::collectives {

void scatter_binomial(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  const auto subtree = [&](int r, int bit) {
    return static_cast<std::uint64_t>(std::min(bit, task.size - r)) * task.bytes;
  };
  const std::uint64_t own = relative % 2 == 0 ? task.bytes : 0;
  if (relative == 0 && task.root != 0) {
    messages.copy(static_cast<std::uint64_t>(task.size) * task.bytes);
  }
  int bit = 1;
  while (bit < task.size && (relative & bit) == 0) {
    bit *= 2;
  }
  // The subtree's shares; those of all where the root turns them.
  if (relative % 2 == 0 && (relative != 0 || task.root != 0)) {
    messages.allocate({{subtree(relative, bit)}});
  }
  if (relative != 0) {
    messages.recv(absolute(relative - bit), subtree(relative, bit));
  }
  if (task.library == Library::OpenMpi) {
    messages.copy(own);
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (relative + bit < task.size) {
      messages.send(absolute(relative + bit), subtree(relative + bit, bit));
    }
  }
  if (task.library == Library::Mpich) {
    messages.copy(own);
  }
}

}  // namespace manynode::collectives
