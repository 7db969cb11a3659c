// Barrier along a binomial tree: ranks report to rank 0, which releases them the same way back; 2 ceil(log2 p) rounds,
// but only 2 (p - 1) messages where dissemination has p log2 p.
#include "algorithms.hpp"

namespace manynode::collectives {

void barrier_tree(const Task& task, Messages& messages) {
  Task empty = task;
  empty.root = 0;
  empty.bytes = 0;
  gather_binomial(empty, messages);
  bcast_binomial(empty, messages);
}

}  // namespace manynode::collectives
