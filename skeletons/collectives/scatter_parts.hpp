// The first half of broadcasts of long messages: part r of the message goes to the rank r above the root, along a
// binomial tree. Ranks are counted from the root here.
#pragma once

#include "algorithm.hpp"

namespace manynode::collectives {

class ScatteredParts {
 public:
  explicit ScatteredParts(const Task& task) : task_(task), relative_((task.rank - task.root + task.size) % task.size) {}

  int relative() const { return relative_; }
  int absolute(int relative) const { return (relative + task_.root) % task_.size; }

  // Of `count` parts from the one of `first` on, which may go past the last rank to the root's.
  std::uint64_t bytes(int first, int count) const {
    const int end = first + count;
    return end <= task_.size ? start(end) - start(first) : task_.bytes - start(first) + start(end - task_.size);
  }

  void scatter(Messages& messages) const {
    int bit = 1;
    while (bit < task_.size && (relative_ & bit) == 0) {
      bit *= 2;
    }
    if (relative_ != 0) {
      messages.recv(absolute(relative_ - bit), subtree(relative_, bit));
    }
    for (bit /= 2; bit > 0; bit /= 2) {
      if (relative_ + bit < task_.size) {
        messages.send(absolute(relative_ + bit), subtree(relative_ + bit, bit));
      }
    }
  }

 private:
  std::uint64_t start(int r) const { return part_start(task_.bytes, task_.size, r); }
  std::uint64_t subtree(int r, int bit) const { return start(std::min(r + bit, task_.size)) - start(r); }

  const Task& task_;
  int relative_;
};

}  // namespace manynode::collectives
