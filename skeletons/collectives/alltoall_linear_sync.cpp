// Open MPI's linear all-to-all with a limited number of requests (coll_base_alltoall.c). By default it does not limit
// them (coll_tuned_alltoall_algorithm_max_requests 0), which makes it the linear one.
#include "algorithms.hpp"

namespace manynode::collectives {

void alltoall_linear_sync(const Task& task, Messages& messages) { alltoall_linear(task, messages); }

}  // namespace manynode::collectives
