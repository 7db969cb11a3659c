// The state of one rank: its position in the stream of calls, its clock, and the requests that it waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fetch_ahead.hpp"
#include "manynode/communicator.hpp"
#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "request.hpp"
#include "sim_time.hpp"
#include "step_store.hpp"
#include "unexpected.hpp"

namespace manynode::network {

// The data that every arriving message accesses; separate from the rest to keep it in the caches.
struct alignas(64) Mailbox {
  std::uint32_t awaits{0};  // requests that have to complete before the rank goes on
  std::uint32_t job{0};
  RequestTable requests;
  PostedReceives posted;  // receives without a message
  UnexpectedMessages unexpected;

  // Prefetches the data for a message that meets its receive and for a rank that continues.
  void fetch() const { fetch_lines_ahead(this, 2); }
  void fetch_rest() const { fetch_ahead(&unexpected); }
};

struct alignas(64) Rank {
  // `rank` and `size` are those of its job.
  Rank(int rank, int size, std::unique_ptr<Skeleton> program, const CollectiveChoice& choice, LocalWork work,
       int ranks_per_node)
      : skeleton(std::move(program)),
        communicators(rank, size),
        lowering(rank, choice, communicators, work, ranks_per_node) {}
  // The lowering points into this object.
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  // Prefetch the data for a rank that continues, in two steps: the second needs the data of the first.
  void fetch_program() const { fetch_lines_ahead(this, 4); }
  void fetch_calls() const {
    if (step != nullptr) fetch_lines_ahead(step->calls.calls.data() + next_call, 4);
  }
  void fetch_primitives() const { fetch_ahead(primitives.data() + next_primitive); }

  Picoseconds clock{0};
  Picoseconds call_began{0};
  std::uint64_t call_bytes{0};  // sent by the present call so far
  bool in_call{false};
  std::vector<Primitive> primitives;  // of the present call
  std::uint32_t next_primitive{0};
  std::uint32_t next_call{0};
  Step* step{nullptr};     // the present one, which the rank shares with others
  std::uint32_t steps{0};  // begun
  std::uint32_t job{0};
  Picoseconds program_began{0};  // of a job in the background: when it started this time
  bool in_step{false};
  bool in_wait{false};              // and called again when it is over
  bool pending_collectives{false};  // non-blocking ones, in `lowering`; next to what a wait reads
  bool has_turn{false};             // if operations wait for the processor: the next one may begin
  bool last_step{false};
  bool finished{false};
  std::unique_ptr<Skeleton> skeleton;
  Communicators communicators;
  Lowering lowering;
};

}  // namespace manynode::network
