// Reduce-scatter by recursive halving: partners at distance p/2, p/4, ... exchange and combine the half of the shares
// that the other keeps; each rank moves (1 - 1/p) of the whole. With a number of ranks that is no power of two, pairs
// of ranks take part as one, whose two shares stay together until the end (Thakur, Rabenseifner and Gropp, 2005,
// section 4.3). Ranks work on a copy of everything, and copy their share out of it.
#include "fold.hpp"

namespace manynode::collectives {

void reduce_scatter_recursive_halving(const Task& task, Messages& messages) {
  Task whole = task;
  whole.bytes = task.block_sum(0, task.size);
  messages.allocate({{whole.bytes}, {whole.bytes, whole.bytes / 2}});
  messages.copy(whole.bytes);
  const Fold fold(whole);
  fold.before(messages);
  if (fold.takes_part()) {
    // Part i is the share of real_rank(i), and of the rank before it where that one is folded into it.
    const auto start = [&](int part) { return part == 0 ? 0 : task.block_sum(0, fold.real_rank(part - 1) + 1); };
    int low = 0;
    for (int half = fold.size() / 2; half > 0; half /= 2) {
      const int partner = fold.rank() ^ half;
      const int keep = (fold.rank() & half) != 0 ? low + half : low;
      const int give = (fold.rank() & half) != 0 ? low : low + half;
      const std::uint64_t kept = start(keep + half) - start(keep);
      messages.exchange_filled(fold.real_rank(partner), start(give + half) - start(give), fold.real_rank(partner),
                               kept);
      messages.combine(kept);
      low = keep;
    }
  }
  if (fold.takes_part()) {
    messages.copy(task.block(task.rank));
  }
  // A share without bytes is not handed back.
  if (const std::uint64_t share = task.block(fold.takes_part() ? std::max(task.rank - 1, 0) : task.rank); share > 0) {
    fold.after(messages, share);
  }
}

}  // namespace manynode::collectives
