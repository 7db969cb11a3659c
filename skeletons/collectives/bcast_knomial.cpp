// Open MPI's broadcast along a k-nomial tree (coll_base_bcast.c) with its default radix of 4: fewer rounds than
// binomial, more sends by each rank.
#include "trees.hpp"

namespace manynode::collectives {

void bcast_knomial(const Task& task, Messages& messages) {
  constexpr int kRadix = 4;  // coll_tuned_bcast_algorithm_knomial_radix
  bcast_along(knomial_tree(task, kRadix), Segments(task.bytes, task.segment), messages);
}

}  // namespace manynode::collectives
