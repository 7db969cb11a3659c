// One replica of a run: ranks that execute primitives, MPI matching, and the eager and rendezvous protocols.
//
// A rank has a clock of its own and runs ahead of the events: what it does before it has to wait depends on nobody
// else, so computing and sending need no event of their own, and what leaves the rank (a message) becomes an event at
// the rank's time. Receives may so be posted before messages that arrive earlier in simulated time, which changes no
// pair: messages keep their order of arrival, receives their order of posting, and both prefer the earliest that fits,
// so that there is only one matching. Ranks pause between steps, so that memory holds the messages of about one step.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "event_queue.hpp"
#include "manynode/skeleton.hpp"
#include "manynode/timing.hpp"
#include "network.hpp"
#include "request.hpp"
#include "run_config.hpp"

namespace manynode::fast {

// What one rank spent in one operation (compute or an MPI call).
struct OperationUse {
  Picoseconds time{0};
  std::uint64_t calls{0};
  std::uint64_t bytes{0};  // sent under this call
};

struct ReplicaResult {
  std::uint32_t replica{0};
  Picoseconds makespan{0};
  std::vector<Picoseconds> iteration_end;  // [step] when the slowest rank finished it
  std::uint64_t messages{0};               // of the application and its collectives, without handshakes
  std::uint64_t bytes{0};
  std::uint64_t events{0};
  std::vector<std::array<OperationUse, kCallKinds>> ranks;  // [rank][CallKind]
  std::vector<LinkUse> links;
};

struct ProgressReport {
  std::uint32_t replica{0};
  double simulated_s{0};
  std::uint64_t events{0};
  std::uint64_t messages{0};
  std::uint32_t finished_ranks{0};
  std::uint32_t ranks{0};
  std::uint32_t steps{0};  // that all ranks have finished
};

// Called every few hundred thousand events.
using ProgressSink = std::function<void(const ProgressReport&)>;

// Simulates one replica of `application` from start to end. `profile` may be null: computing takes no time. Throws
// SimulationError when the ranks do not finish or messages remain, and UserError for rank classes that the profile
// lacks.
ReplicaResult simulate(const Application& application, const RunConfig& config, const TimingProfile* profile,
                       std::uint32_t replica, const ProgressSink& progress = {});

}  // namespace manynode::fast
