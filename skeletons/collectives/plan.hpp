// Looks up the algorithm function of each call for a choice of collectives.
#pragma once

#include <array>

#include "algorithm.hpp"

namespace manynode::collectives {

class Plan {
 public:
  // Throws UserError for unknown names, with the known ones.
  explicit Plan(const CollectiveChoice& choice);

  // `bytes` as Call::bytes, the same on all ranks: for allgatherv and reduce_scatter the mean share; 0 where ranks know
  // only their own messages (alltoallv, alltoallw, gatherv, scatterv, neighbour collectives) and for the barrier.
  Algorithm algorithm(CallKind kind, int size, std::uint64_t bytes) const {
    const Algorithm named = named_[static_cast<std::size_t>(kind)];
    return named != nullptr ? named : rules_(kind, size, bytes);
  }

  // Whose rules they are; also of algorithms that were chosen by name.
  Library library() const { return library_; }
  // Of an algorithm that was chosen by name; 0: the library's default.
  std::uint64_t segment_bytes(CallKind kind) const {
    return named_[static_cast<std::size_t>(kind)] != nullptr ? segment_bytes_ : 0;
  }

 private:
  std::array<Algorithm, kCallKinds> named_{};  // null: the rules decide
  Rules rules_;
  Library library_;
  std::uint64_t segment_bytes_;
};

// Made at the first call and kept: there are few different choices but very many ranks.
const Plan& plan_of(const CollectiveChoice& choice);

// Its name without the collective ("ring"), for tests and for people.
std::string algorithm_name(Algorithm algorithm);

}  // namespace manynode::collectives
