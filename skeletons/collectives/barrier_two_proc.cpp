// Barrier of two ranks: one exchange (coll_base_barrier.c). For other numbers of ranks, where Open MPI refuses it, it
// is the dissemination, which is the same for two.
#include "algorithms.hpp"

namespace manynode::collectives {

void barrier_two_proc(const Task& task, Messages& messages) { barrier_dissemination(task, messages); }

}  // namespace manynode::collectives
