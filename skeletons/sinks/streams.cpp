// Runs skeletons for the sinks.
#include "streams.hpp"

namespace manynode::sinks {

void for_each_step(const Selection& selection, const std::function<void(const Step&)>& use) {
  for (const int rank : selection.ranks) {
    Communicators communicators(rank, selection.size);
    Lowering lowering(rank, selection.collectives, communicators, selection.work, selection.ranks_per_node);
    const std::unique_ptr<Skeleton> skeleton = selection.application->make(rank, selection.size);
    Calls calls;
    std::vector<Primitive> primitives;
    for (bool more = true; more;) {
      calls.clear();
      primitives.clear();
      Mpi mpi(rank, selection.size, calls, communicators);
      more = skeleton->step(mpi);
      if (selection.lowered) {
        for (const Call& call : calls.calls) {
          lowering.lower(call, calls, primitives);
        }
      }
      use(Step{rank, calls, primitives, communicators});
    }
  }
}

}  // namespace manynode::sinks
