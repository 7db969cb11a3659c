// A choice of collectives, looked up: which function carries out a call.
#pragma once

#include <array>

#include "algorithm.hpp"

namespace manynode::collectives {

class Plan {
 public:
  // Throws UserError for names that do not exist, with the ones that do.
  explicit Plan(const CollectiveChoice& choice);

  // `bytes` as Call::bytes, the same on all ranks.
  Algorithm algorithm(CallKind kind, int size, std::uint64_t bytes) const {
    const Algorithm named = named_[static_cast<std::size_t>(kind)];
    return named != nullptr ? named : rules_(kind, size, bytes);
  }

 private:
  std::array<Algorithm, kCallKinds> named_{};  // null: the rules decide
  Rules rules_;
};

// Made at the first question and kept: there are as many plans as different choices, and ranks without number ask.
const Plan& plan_of(const CollectiveChoice& choice);

// Its name without the collective ("ring"), for tests and for people.
std::string algorithm_name(Algorithm algorithm);

}  // namespace manynode::collectives
