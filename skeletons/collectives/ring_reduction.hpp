// The reducing half of Open MPI's rings (coll_base_allreduce.c, coll_base_reduce_scatter.c): the next receive is posted
// before the last one is waited for.
#pragma once

#include "algorithm.hpp"

namespace manynode::collectives {

// `bytes_of(step)`: of the share that this rank sends in a step, from 0 to p - 2; in step p - 1 it has its last one
// combined.
template <typename BytesOf>
void reduce_on_ring(const Task& task, const BytesOf& bytes_of, Messages& messages) {
  const int next = (task.rank + 1) % task.size;
  const int previous = (task.rank - 1 + task.size) % task.size;
  // Shares that differ may be empty; those that move nothing have no message.
  const auto receive = [&](int step) -> std::optional<Messages::Posted> {
    return bytes_of(step) > 0 ? std::optional(messages.post_recv(previous, bytes_of(step))) : std::nullopt;
  };
  const auto send = [&](int step) {
    if (bytes_of(step) > 0) {
      messages.send(next, bytes_of(step));
    }
  };
  auto coming = receive(1);
  send(0);
  for (int step = 1; step < task.size; ++step) {
    const auto awaited = coming;
    if (step + 1 < task.size) {
      coming = receive(step + 1);
    }
    if (awaited) {
      messages.complete({&*awaited, 1});
    }
    messages.combine(bytes_of(step));
    if (step + 1 < task.size) {
      send(step);
    }
  }
}

}  // namespace manynode::collectives
