// Open MPI's broadcast along a split binary tree (coll_base_bcast.c): the left subtree hands on the first half of the
// message, the right one the second, segment by segment. Then each rank exchanges halves with its neighbour in the
// other subtree. A message that has no two halves, or halves below a segment, goes along a pipeline.
#include "algorithms.hpp"
#include "trees.hpp"

namespace manynode::collectives {

void bcast_split_binary(const Task& task, Messages& messages) {
  const std::array<std::uint64_t, 2> halves = {task.bytes - task.bytes / 2, task.bytes / 2};
  if (halves[1] == 0 || task.segment > halves[1]) {
    bcast_pipeline(task, messages);
    return;
  }
  const Tree tree = binary_tree(task);
  const std::array<Segments, 2> parts = {Segments(halves[0], task.segment), Segments(halves[1], task.segment)};
  const int relative = (task.rank - task.root + task.size) % task.size;
  const std::size_t side = relative % 2 == 1 ? 0 : 1;  // odd ranks are below the left child, which is 1 above the root

  if (relative == 0) {
    for (std::uint64_t segment = 0; segment < parts[0].count(); ++segment) {
      for (std::size_t i = 0; i < tree.children.size(); ++i) {
        if (segment < parts[i].count()) {
          messages.send(tree.children[i], parts[i].bytes(segment));
        }
      }
    }
  } else if (tree.children.empty()) {
    for (std::uint64_t segment = 0; segment < parts[side].count(); ++segment) {
      messages.recv(tree.parent, parts[side].bytes(segment));
    }
  } else {
    const std::uint64_t count = parts[side].count();
    Messages::Posted coming = messages.post_recv(tree.parent, parts[side].bytes(0));
    for (std::uint64_t segment = 0; segment < count; ++segment) {
      const Messages::Posted awaited = coming;
      if (segment + 1 < count) {
        coming = messages.post_recv(tree.parent, parts[side].bytes(segment + 1));
      }
      messages.complete({&awaited, 1});
      for (const int child : tree.children) {
        messages.send(child, parts[side].bytes(segment));
      }
    }
  }

  const bool even = task.size % 2 == 0;
  if (even && relative == 0) {
    messages.send((task.root + task.size - 1) % task.size, halves[1]);
  } else if (even && relative == task.size - 1) {
    messages.recv(task.root, halves[1]);
  } else if (relative != 0) {
    const int pair = (task.rank + (side == 0 ? 1 : task.size - 1)) % task.size;
    messages.exchange(pair, halves[side], pair, halves[1 - side]);
  }
}

}  // namespace manynode::collectives
