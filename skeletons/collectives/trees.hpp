// The trees along which Open MPI broadcasts and reduces (coll_base_topo.c): who is a rank's parent, who are its
// children, in the order in which it serves them.
#pragma once

#include <vector>

#include "algorithm.hpp"

namespace manynode::collectives {

// Ranks of the communicator.
struct Tree {
  int parent{-1};  // none: the root
  std::vector<int> children;
};

// Two children per rank, level by level; ranks of one parent are far apart: 1 and 2, then 3, 5 and 4, 6.
Tree binary_tree(const Task& task);
// Of the ranks in `chains` lines below the root, each rank the parent of the next one.
Tree chain_tree(const Task& task, int chains);
// The nearest child first: 1, 2, 4 ... above the root; children of a rank are those with one higher bit more.
Tree nearest_first_tree(const Task& task);
// Children of a rank are those with one bit more below its lowest one; the nearest first. Subtrees are ranges of ranks.
Tree in_order_binomial_tree(const Task& task);
// Likewise with radix - 1 children per digit, those with the largest subtree first.
Tree knomial_tree(const Task& task, int radix);
// A binary tree whose subtrees are ranges of ranks. Its root is the last rank, whatever the task's is.
Tree in_order_binary_tree(const Task& task);

// A message in segments.
class Segments {
 public:
  // Of `segment` bytes, or of one if that is 0; whole elements of `element` bytes.
  Segments(std::uint64_t bytes, std::uint64_t segment, std::uint64_t element = 1)
      : bytes_(bytes),
        size_(segment == 0 || segment >= bytes ? bytes : std::max(segment / element, std::uint64_t{1}) * element) {}

  std::uint64_t count() const { return size_ == 0 ? 0 : (bytes_ + size_ - 1) / size_; }
  std::uint64_t total() const { return bytes_; }
  std::uint64_t bytes(std::uint64_t i) const { return std::min(size_, bytes_ - i * size_); }

 private:
  std::uint64_t bytes_;
  std::uint64_t size_;
};

// Open MPI's generic broadcast and reduction along a tree, segment by segment (coll_base_bcast.c, coll_base_reduce.c):
// the next segment is on its way while one is handed on or combined.
void bcast_along(const Tree& tree, const Segments& segments, Messages& messages);
void reduce_along(const Tree& tree, const Segments& segments, Messages& messages);

}  // namespace manynode::collectives
