// Allreduce for long messages (Rabenseifner): reduce-scatter by recursive halving, then allgather by recursive
// doubling. Each rank moves 2 (1 - 1/p) of the message, where recursive doubling moves log2(p) of it. Thakur,
// Rabenseifner and Gropp, 2005, section 4.5.
#include "fold.hpp"

namespace manynode::collectives {

void allreduce_reduce_scatter_allgather(const Task& task, Messages& messages) {
  messages.allocate({{task.bytes, task.bytes / 2}});  // each rank receives into its half
  messages.copy(task.bytes);
  const Fold fold(task);
  fold.before(messages);
  if (fold.takes_part()) {
    const auto start = [&](int part) { return part_start(task.bytes, fold.size(), part); };
    // This rank works on parts [low, low + width); its partner takes the other half of them.
    int low = 0;
    for (int half = fold.size() / 2; half > 0; half /= 2) {
      const int partner = fold.rank() ^ half;
      const int keep = (fold.rank() & half) != 0 ? low + half : low;
      const int give = (fold.rank() & half) != 0 ? low : low + half;
      const std::uint64_t sent = start(give + half) - start(give);
      const std::uint64_t kept = start(keep + half) - start(keep);
      messages.exchange(fold.real_rank(partner), sent, fold.real_rank(partner), kept);
      messages.combine(kept);
      low = keep;
    }
    for (int width = 1; width < fold.size(); width *= 2) {
      const int partner = fold.rank() ^ width;
      const int mine = fold.rank() / width * width;
      const int theirs = partner / width * width;
      messages.exchange(fold.real_rank(partner), start(mine + width) - start(mine), fold.real_rank(partner),
                        start(theirs + width) - start(theirs));
    }
  }
  fold.after(messages);
}

}  // namespace manynode::collectives
