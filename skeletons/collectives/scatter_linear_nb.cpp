// Open MPI's non-blocking linear scatter (coll_base_scatter.c): the root sends all shares at once.
#include "algorithms.hpp"

namespace manynode::collectives {

void scatter_linear_nb(const Task& task, Messages& messages) {
  Task at_once = task;
  at_once.library = Library::Mpich;  // whose linear scatter it is
  scatter_linear(at_once, messages);
}

}  // namespace manynode::collectives
