#include "replica_result.hpp"

namespace manynode::network {

std::uint64_t ReplicaResult::messages() const {
  std::uint64_t sum = 0;
  for (const auto& job : jobs) sum += job.messages;
  return sum;
}

std::uint64_t ReplicaResult::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& job : jobs) sum += job.bytes;
  return sum;
}

}  // namespace manynode::network
