// Reduction of long messages (Rabenseifner): reduce-scatter by recursive halving, then the parts are gathered at the
// root along a binomial tree; each rank moves about twice the message in all, where the binomial tree moves it log2(p)
// times. Ranks are counted from the root. With a number of them that is no power of two, the odd ones of the first 2 (p
// - 2^k) hand their data to the even ones, so that the root always takes part. Thakur, Rabenseifner and Gropp, 2005,
// section 4.4.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_reduce_scatter_gather(const Task& task, Messages& messages) {
  const int relative = (task.rank - task.root + task.size) % task.size;
  const int power = power_of_two_below(task.size);
  const int rest = task.size - power;
  const auto absolute = [&](int r) { return (r + task.root) % task.size; };
  // What comes in, to the half that this rank works on, and the result where the caller has no buffer for it.
  messages.allocate({{task.bytes, task.bytes / 2}, {relative == 0 ? 0 : task.bytes}});
  messages.copy(task.bytes);
  if (relative < 2 * rest) {
    if (relative % 2 == 1) {
      messages.send(absolute(relative - 1), task.bytes);
      return;
    }
    messages.recv(absolute(relative + 1), task.bytes);
    messages.combine(task.bytes);
  }

  const int rank = relative < 2 * rest ? relative / 2 : relative - rest;
  const auto peer = [&](int r) { return absolute(r < rest ? 2 * r : r + rest); };
  const auto start = [&](int part) { return part_start(task.bytes, power, part); };
  int low = 0;
  for (int half = power / 2; half > 0; half /= 2) {
    const int keep = (rank & half) != 0 ? low + half : low;
    const int give = (rank & half) != 0 ? low : low + half;
    const std::uint64_t kept = start(keep + half) - start(keep);
    messages.exchange(peer(rank ^ half), start(give + half) - start(give), peer(rank ^ half), kept);
    messages.combine(kept);
    low = keep;
  }
  for (int width = 1; width < power; width *= 2) {
    if ((rank & width) != 0) {
      messages.send(peer(rank - width), start(rank + width) - start(rank));
      return;
    }
    messages.recv(peer(rank + width), start(rank + 2 * width) - start(rank + width));
  }
}

}  // namespace manynode::collectives
