// Reduce-scatter by recursive doubling (Open MPI, coll_base_reduce_scatter_block.c): in round k, partners at distance
// 2^k exchange and combine all shares but those of the other's group of 2^k ranks, which that group has. It moves and
// combines more than recursive halving, but needs no commutative operation. With a number of ranks that is no power of
// two, ranks without a partner hear from those of their group that have one. Shares differ in their size for
// MPI_Reduce_scatter.
#include "algorithm.hpp"

namespace manynode::collectives {

void reduce_scatter_recursive_doubling(const Task& task, Messages& messages) {
  const int size = task.size;
  const int rank = task.rank;
  const std::uint64_t whole = task.block_sum(0, size);
  messages.allocate({{whole}, {whole}});
  messages.copy(whole);
  for (int distance = 1; distance < size; distance *= 2) {
    const int own_group = rank / distance * distance;
    const int remote = rank ^ distance;
    const int remote_group = remote / distance * distance;
    // All but the shares of a group, which the partner's group needs no more.
    const auto without = [&](int group) {
      return whole - (group < size ? task.block_sum(group, std::min(distance, size - group)) : 0);
    };
    const std::uint64_t coming = without(remote_group);
    bool received = false;
    if (remote < size) {
      messages.exchange(remote, without(own_group), remote, coming);
      received = true;
    }
    if (remote_group + distance > size) {
      // Ranks of the other group that exist: so many of this group have received.
      const int have = size - own_group - distance;
      for (int half = distance / 2; half > 0; half /= 2) {
        const int other = rank ^ half;
        const int group = rank / (2 * half) * (2 * half);
        if (other > rank && rank < group + have && other >= group + have) {
          messages.send(other, coming);
        } else if (other < rank && other < group + have && rank >= group + have) {
          messages.recv(other, coming);
          received = true;
        }
      }
    }
    if (received) {
      messages.combine(coming);
    }
  }
  messages.copy(task.block(rank));
}

}  // namespace manynode::collectives
