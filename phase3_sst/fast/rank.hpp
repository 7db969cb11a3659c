// The state of one rank: where it is in its stream of calls, its clock, and what it waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "manynode/communicator.hpp"
#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "pool.hpp"
#include "request.hpp"
#include "sim_time.hpp"

namespace manynode::fast {

struct Rank {
  Rank(int rank, int size, std::unique_ptr<Skeleton> skeleton, const CollectiveChoice& choice)
      : skeleton(std::move(skeleton)), communicators(rank, size), lowering(rank, choice, communicators) {}
  // The lowering points into this object.
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  std::unique_ptr<Skeleton> skeleton;
  Communicators communicators;
  Lowering lowering;
  Calls calls;                        // of the present step
  std::vector<Primitive> primitives;  // of the present call
  std::uint32_t next_call{0};
  std::uint32_t next_primitive{0};
  std::uint32_t steps{0};  // begun
  Picoseconds clock{0};
  std::uint32_t waits_for{kNone};  // request
  RequestList requests;
  Chain posted;      // receives without a message, in the order of posting
  Chain unexpected;  // messages without a receive, in the order of arrival
  bool last_step{false};
  bool finished{false};
};

}  // namespace manynode::fast
