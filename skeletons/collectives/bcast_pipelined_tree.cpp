// Broadcast along a binary tree in segments: while a rank hands segment k to its two children, segment k + 1 is on its
// way to it. The time of a long message is that of two messages, whatever the number of ranks; the segments have the 8
// KiB of MPICH's pipelined trees (default of MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE). A message of one segment is a
// broadcast along a plain binary tree.
#include "algorithm.hpp"

namespace manynode::collectives {

void bcast_pipelined_tree(const Task& task, Messages& messages) {
  constexpr std::uint64_t kSegmentBytes = 8192;
  const int relative = (task.rank - task.root + task.size) % task.size;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  const auto segment = [&](std::uint64_t start) { return std::min(kSegmentBytes, task.bytes - start); };
  const int parent = absolute((relative - 1) / 2);  // of no meaning for the root

  if (relative != 0) {
    messages.recv(parent, segment(0));
  }
  for (std::uint64_t start = 0; start < task.bytes; start += kSegmentBytes) {
    const std::uint64_t next = start + kSegmentBytes;
    if (relative != 0 && next < task.bytes) {
      messages.post_recv(parent, segment(next));
    }
    for (const int child : {2 * relative + 1, 2 * relative + 2}) {
      if (child < task.size) {
        messages.post_send(absolute(child), segment(start));
      }
    }
    messages.complete();
  }
}

}  // namespace manynode::collectives
