// Allreduce by recursive doubling: in round k, partners at distance 2^k exchange and combine the whole message. With a
// number of ranks that is no power of two, of the first 2 (p - 2^k) ranks the even ones hand their data to their odd
// neighbour before the rounds and get the result after them (Thakur, Rabenseifner and Gropp, 2005, section 4.5).
#include "fold.hpp"

namespace manynode::collectives {

void allreduce_recursive_doubling(const Task& task, Messages& messages) {
  messages.allocate({{task.bytes}});
  messages.copy(task.bytes);
  const Fold fold(task);
  fold.before(messages);
  if (fold.takes_part()) {
    // Open MPI (coll_base_allreduce.c) leaves the result in the buffer of the higher of two partners.
    bool in_receive_buffer = false;
    for (int distance = 1; distance < fold.size(); distance *= 2) {
      const int partner = fold.real_rank(fold.rank() ^ distance);
      messages.exchange(partner, task.bytes, partner, task.bytes);
      messages.combine(task.bytes);
      in_receive_buffer = in_receive_buffer != ((fold.rank() & distance) == 0);
    }
    if (task.library == Library::OpenMpi && !in_receive_buffer) {
      messages.copy(task.bytes);
    }
  }
  fold.after(messages);
}

}  // namespace manynode::collectives
