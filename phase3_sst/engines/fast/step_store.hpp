// The calls of the ranks' current steps; equal steps are stored once. Relative to their own number, most ranks do the
// same in every step. With peers stored as distances, gigabytes shrink to a few steps that stay in the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "manynode/mpi.hpp"

namespace manynode::network {

// A step as a rank executes it. Waits do not name requests that complete at once (eager sends, messages to
// MPI_PROC_NULL): these leave no record.
struct Step {
  Calls calls;
  std::uint64_t digest{0};
  std::uint32_t users{0};
};

// The rank number in a call of a step: the world rank for point-to-point calls in the world, else the skeleton's value.
inline std::int32_t absolute_peer(std::int32_t peer, std::int32_t rank);

class StepStore {
 public:
  explicit StepStore(std::uint64_t eager_limit_bytes) : eager_limit_bytes_(eager_limit_bytes) {}

  // Calls for a skeleton to fill.
  Calls& fresh() { return fresh_; }

  // The step with the calls in fresh(), for world rank `rank` of its job; fresh() is empty afterwards. `before` is the
  // previous step of the rank (null: none), which it leaves.
  Step* keep(std::int32_t rank, Step* before);

  // Number of stored steps.
  std::size_t size() const { return steps_.size(); }

  // Distances are stored as kHere + distance, far from all rank numbers.
  static constexpr std::int32_t kHere = 0x60000000;
  static constexpr std::int32_t kFarthest = 0x1fffffff;

 private:
  void leave_out_complete();
  void make_relative(std::int32_t rank);
  bool is_fresh(const Step& step) const;
  std::uint64_t digest_of_fresh() const;
  Step* find(std::uint64_t digest);
  void release(Step* step);

  std::uint64_t eager_limit_bytes_;
  Calls fresh_;
  std::vector<bool> complete_;                                           // [request] of the fresh step
  std::unordered_multimap<std::uint64_t, std::unique_ptr<Step>> steps_;  // by digest
  std::vector<std::unique_ptr<Step>> unused_;                            // their memory serves again
};

inline std::int32_t absolute_peer(std::int32_t peer, std::int32_t rank) {
  return peer >= StepStore::kHere - StepStore::kFarthest ? peer - StepStore::kHere + rank : peer;
}

}  // namespace manynode::network
