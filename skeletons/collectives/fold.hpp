// Folds reductions over p ranks to the largest power of two below p, if p is not a power of two. Among the first
// 2 (p - power) ranks, the even ones send their data to the odd ones, which then represent both. As in MPICH.
#pragma once

#include "algorithm.hpp"

namespace manynode::collectives {

class Fold {
 public:
  explicit Fold(const Task& task)
      : task_(task), size_(power_of_two_below(task.size)), rest_(task.size - power_of_two_below(task.size)) {}

  int size() const { return size_; }
  bool takes_part() const { return task_.rank >= 2 * rest_ || task_.rank % 2 == 1; }
  // Rank among those that take part.
  int rank() const { return task_.rank < 2 * rest_ ? task_.rank / 2 : task_.rank - rest_; }
  int real_rank(int rank) const { return rank < rest_ ? 2 * rank + 1 : rank + rest_; }

  void before(Messages& messages) const {
    if (task_.rank >= 2 * rest_) {
      return;
    }
    if (!takes_part()) {
      messages.send(task_.rank + 1, task_.bytes);
    } else {
      messages.recv(task_.rank - 1, task_.bytes);
      messages.combine(task_.bytes);
    }
  }

  // Sends the result, or this rank's share of it, to the rank folded away.
  void after(Messages& messages) const { after(messages, task_.bytes); }

  void after(Messages& messages, std::uint64_t bytes) const {
    if (task_.rank >= 2 * rest_) {
      return;
    }
    if (takes_part()) {
      messages.send(task_.rank - 1, bytes);
    } else {
      messages.recv(task_.rank + 1, bytes);
    }
  }

 private:
  const Task& task_;
  int size_;
  int rest_;
};

}  // namespace manynode::collectives
