// Open MPI's segmented ring (coll_base_allreduce.c): the reducing half of the ring once for each segment of the parts.
// Segments have 1 MiB by default, as Open MPI 4.0 chose; a message of less than a segment for each rank takes the plain
// ring.
#include "algorithms.hpp"
#include "ring_reduction.hpp"

namespace manynode::collectives {

void allreduce_segmented_ring(const Task& task, Messages& messages) {
  constexpr std::uint64_t kSegmentBytes = 1 << 20;
  const auto size = static_cast<std::uint64_t>(task.size);
  const std::uint64_t elements = task.bytes / kElementBytes;
  const std::uint64_t segment =
      std::max((task.segment == 0 ? kSegmentBytes : task.segment) / kElementBytes, std::uint64_t{1});
  if (elements < size * segment) {
    allreduce_ring(task, messages);
    return;
  }
  const std::uint64_t rest = elements % (size * segment);
  const auto phases =
      static_cast<int>(elements / (size * segment) + (rest >= size && rest > size * segment / 2 ? 1 : 0));
  const auto part = [&](int i) {
    const int index = ((i % task.size) + task.size) % task.size;
    return part_start(task.bytes, task.size, index + 1) - part_start(task.bytes, task.size, index);
  };
  messages.allocate({{part_start(part(0), phases, 1)}, {part_start(part(0), phases, 1)}});
  messages.copy(task.bytes);
  for (int phase = 0; phase < phases; ++phase) {
    const auto segment_of = [&](int step) {
      const std::uint64_t bytes = part(task.rank - step);
      return part_start(bytes, phases, phase + 1) - part_start(bytes, phases, phase);
    };
    reduce_on_ring(task, segment_of, messages);
  }
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  for (int step = 0; step < task.size - 1; ++step) {
    messages.exchange(next, part(task.rank + 1 - step), previous, part(task.rank - step));
  }
}

}  // namespace manynode::collectives
