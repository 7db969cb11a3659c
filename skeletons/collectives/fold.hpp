// How reductions over p ranks, p no power of two, become ones over the largest power of two below p: of the first
// 2 (p - power) ranks the even ones hand their data to the odd ones, which then stand for both. As in MPICH.
#pragma once

#include "algorithm.hpp"

namespace manynode::collectives {

class Fold {
 public:
  explicit Fold(const Task& task)
      : task_(task), size_(power_of_two_below(task.size)), rest_(task.size - power_of_two_below(task.size)) {}

  int size() const { return size_; }
  bool takes_part() const { return task_.rank >= 2 * rest_ || task_.rank % 2 == 1; }
  // Among those that take part.
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

  // The result, or this rank's share of it, for the one folded away.
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
