// Trees by arithmetic, as in coll_base_topo.c; each rank computes its own place.
#include "trees.hpp"

namespace manynode::collectives {
namespace {

int relative_of(const Task& task) { return (task.rank - task.root + task.size) % task.size; }
int absolute(const Task& task, int relative) { return (relative + task.root) % task.size; }

}  // namespace

Tree binary_tree(const Task& task) {
  const int relative = relative_of(task);
  // Ranks of a level begin at 2^level - 1; a child is one or two times 2^level above its parent.
  int width = 1;
  while (2 * width - 1 <= relative) {
    width *= 2;
  }
  Tree tree;
  for (const int child : {relative + width, relative + 2 * width}) {
    if (child < task.size) {
      tree.children.push_back(absolute(task, child));
    }
  }
  if (relative > 0) {
    int parent = relative;
    while (parent >= width - 1) {
      parent -= width / 2;
    }
    tree.parent = absolute(task, parent);
  }
  return tree;
}

Tree chain_tree(const Task& task, int chains) {
  const int relative = relative_of(task);
  const int others = task.size - 1;
  const int lines = std::min(chains, others);
  // The first `longer` chains have one rank more than the others.
  const int shortest = others / lines;
  const int longer = others % lines;
  const auto head = [&](int line) { return 1 + line * shortest + std::min(line, longer); };
  Tree tree;
  if (relative == 0) {
    for (int line = 0; line < lines; ++line) {
      tree.children.push_back(absolute(task, head(line)));
    }
    return tree;
  }
  int line = 0;
  while (line + 1 < lines && head(line + 1) <= relative) {
    ++line;
  }
  tree.parent = absolute(task, relative == head(line) ? 0 : relative - 1);
  const int next = relative + 1;
  if (next < task.size && (line + 1 == lines || next < head(line + 1))) {
    tree.children.push_back(absolute(task, next));
  }
  return tree;
}

Tree nearest_first_tree(const Task& task) {
  const int relative = relative_of(task);
  int bit = 1;
  while (bit <= relative) {
    bit *= 2;
  }
  Tree tree;
  if (relative > 0) {
    tree.parent = absolute(task, relative ^ (bit / 2));
  }
  for (; relative + bit < task.size; bit *= 2) {
    tree.children.push_back(absolute(task, relative + bit));
  }
  return tree;
}

Tree in_order_binomial_tree(const Task& task) {
  const int relative = relative_of(task);
  Tree tree;
  for (int bit = 1; bit < task.size; bit *= 2) {
    if ((relative & bit) != 0) {
      tree.parent = absolute(task, relative - bit);
      break;
    }
    if (relative + bit < task.size) {
      tree.children.push_back(absolute(task, relative + bit));
    }
  }
  return tree;
}

Tree knomial_tree(const Task& task, int radix) {
  const int relative = relative_of(task);
  Tree tree;
  int place = 1;
  for (; place < task.size; place *= radix) {
    if (relative % (radix * place) != 0) {
      tree.parent = absolute(task, relative / (radix * place) * (radix * place));
      break;
    }
  }
  for (place /= radix; place > 0; place /= radix) {
    for (int digit = 1; digit < radix; ++digit) {
      if (const int child = relative + place * digit; child < task.size) {
        tree.children.push_back(absolute(task, child));
      }
    }
  }
  return tree;
}

Tree in_order_binary_tree(const Task& task) {
  Tree tree;
  // The subtree of ranks [first, first + size) has its last rank as root; its lower half is the right child's.
  int first = 0;
  int size = task.size;
  for (;;) {
    const int root = first + size - 1;
    const int right = size / 2;  // ranks of the right subtree
    const int left_child = size > 1 ? root - 1 : -1;
    const int right_child = size > 2 ? first + right - 1 : -1;
    if (task.rank == root) {
      for (const int child : {left_child, right_child}) {
        if (child >= 0) {
          tree.children.push_back(child);
        }
      }
      return tree;
    }
    tree.parent = root;
    if (size > 2 && task.rank <= right_child) {
      size = right;
    } else {
      const int taken = size > 2 ? right : 0;
      first += taken;
      size -= taken + 1;
    }
  }
}

void bcast_along(const Tree& tree, const Segments& segments, Messages& messages) {
  std::vector<Messages::Posted> sends;
  const auto hand_on = [&](std::uint64_t segment) {
    sends.clear();
    for (const int child : tree.children) {
      sends.push_back(messages.post_send(child, segments.bytes(segment)));
    }
    messages.complete(sends);
  };
  const std::uint64_t count = segments.count();
  if (tree.parent < 0) {
    for (std::uint64_t segment = 0; segment < count; ++segment) {
      hand_on(segment);
    }
    return;
  }
  Messages::Posted coming = messages.post_recv(tree.parent, segments.bytes(0));
  for (std::uint64_t segment = 0; segment < count; ++segment) {
    const Messages::Posted awaited = coming;
    if (segment + 1 < count) {
      coming = messages.post_recv(tree.parent, segments.bytes(segment + 1));
    }
    messages.complete({&awaited, 1});
    hand_on(segment);
  }
}

void reduce_along(const Tree& tree, const Segments& segments, Messages& messages) {
  const std::uint64_t count = segments.count();
  const auto to_parent = [&](std::uint64_t segment) {
    if (tree.parent >= 0) {
      messages.send(tree.parent, segments.bytes(segment));
    }
  };
  if (tree.children.empty()) {
    for (std::uint64_t segment = 0; segment < count; ++segment) {
      to_parent(segment);
    }
    return;
  }
  // The result where the caller has no buffer for it, and two that take turns: the first child's data come into the
  // result, the others' into these.
  const std::uint64_t longest = segments.bytes(0);
  const std::uint64_t receives = std::min(std::uint64_t{2}, count * tree.children.size() - 1);
  messages.allocate(
      {{tree.parent < 0 ? 0 : segments.total()}, {longest, receives > 1 ? longest : 0}, {receives > 0 ? longest : 0}});
  // The receive of the next child, or of the next segment, is posted before the last one is waited for.
  const std::uint64_t children = tree.children.size();
  const auto receive = [&](std::uint64_t i) {
    return messages.post_recv(tree.children[i % children], segments.bytes(i / children));
  };
  Messages::Posted coming = receive(0);
  for (std::uint64_t i = 0; i < count * children; ++i) {
    const Messages::Posted awaited = coming;
    if (i + 1 < count * children) {
      coming = receive(i + 1);
    }
    messages.complete({&awaited, 1});
    messages.combine(segments.bytes(i / children));
    if (i % children == children - 1) {
      to_parent(i / children);
    }
  }
}

}  // namespace manynode::collectives
