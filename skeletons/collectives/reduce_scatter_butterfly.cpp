// Reduce-scatter on a butterfly (Open MPI, coll_base_reduce_scatter_block.c; Traeff, "An improved algorithm for
// (non-commutative) reduce-scatter with an application", 2005): partners at distance 1, 2, 4, ... exchange and combine
// halves, then each rank has the share of the rank with its mirrored number and sends it there. With a number of ranks
// that is no power of two, pairs of ranks take part as one.
#include "fold.hpp"

namespace manynode::collectives {

void reduce_scatter_butterfly(const Task& task, Messages& messages) {
  Task whole = task;
  whole.bytes = task.block_sum(0, task.size);
  messages.allocate({{whole.bytes}, {whole.bytes, whole.bytes / 2}});
  messages.copy(whole.bytes);
  const Fold fold(whole);
  const int parts = fold.size();
  const bool power_of_two = parts == task.size;
  const auto mirrored = [&](int rank) {
    int mirror = 0;
    for (int bit = 1, other = parts / 2; bit < parts; bit *= 2, other /= 2) {
      mirror |= (rank & bit) != 0 ? other : 0;
    }
    return mirror;
  };
  // Part i of the vector: the share of real_rank(i), and of the rank before it where that one is folded into it. With a
  // power of two the blocks are permuted before, and no share has to be sent on.
  const auto owner = [&](int part) { return fold.real_rank(power_of_two ? mirrored(part) : part); };
  const auto folded = [&](int part) { return !power_of_two && part < task.size - parts; };
  const auto part_bytes = [&](int part) {
    const int rank = owner(part);
    return task.block(rank) + (folded(part) ? task.block(rank - 1) : 0);
  };
  const auto bytes_of = [&](int first, int count) {
    std::uint64_t sum = 0;
    for (int part = first; part < first + count; ++part) {
      sum += part_bytes(part);
    }
    return sum;
  };
  fold.before(messages);
  if (!fold.takes_part()) {
    // The pair's result is at the rank with the mirrored number.
    if (task.block(task.rank) > 0) {
      messages.recv(fold.real_rank(mirrored(task.rank / 2)), task.block(task.rank));
    }
    return;
  }
  int first = 0;
  for (int distance = 1, half = parts / 2; distance < parts; distance *= 2, half /= 2) {
    const bool upper = (fold.rank() & distance) != 0;
    const int keep = upper ? first + half : first;
    const int give = upper ? first : first + half;
    const int partner = fold.real_rank(fold.rank() ^ distance);
    messages.exchange_filled(partner, bytes_of(give, half), partner, bytes_of(keep, half));
    messages.combine(bytes_of(keep, half));
    first = keep;
  }
  // This rank has the part with its mirrored number.
  if (!power_of_two && folded(first) && task.block(owner(first) - 1) > 0) {
    messages.send(owner(first) - 1, task.block(owner(first) - 1));
  }
  if (owner(first) == task.rank) {
    messages.copy(task.block(task.rank));
  } else {
    messages.exchange_filled(owner(first), task.block(owner(first)), owner(first), task.block(task.rank));
  }
}

}  // namespace manynode::collectives
