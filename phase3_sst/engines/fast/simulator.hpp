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
#include <optional>
#include <vector>

#include "manynode/skeleton.hpp"
#include "manynode/timing.hpp"
#include "network.hpp"
#include "run_config.hpp"
#include "time_series.hpp"

namespace manynode::fast {

// What a job needs besides its place on the machine; one for each job of the run, in the same order.
struct Program {
  std::shared_ptr<const Application> application;
  std::optional<TimingProfile> profile;  // absent: computing takes no time
};

// What one rank spent in one operation (compute or an MPI call).
struct OperationUse {
  Picoseconds time{0};
  std::uint64_t calls{0};
  std::uint64_t bytes{0};  // sent under this call
};

struct JobResult {
  Picoseconds makespan{0};                 // when its last rank finished; of a background job, when the run ended
  std::vector<Picoseconds> iteration_end;  // [step] when the slowest rank finished it
  std::uint64_t messages{0};               // of the application and its collectives, without handshakes
  std::uint64_t bytes{0};
  std::vector<std::array<OperationUse, kCallKinds>> ranks;  // [rank][CallKind]
};

struct ReplicaResult {
  std::uint32_t replica{0};
  Picoseconds makespan{0};  // of the last job that is not in the background
  std::uint64_t events{0};
  std::vector<JobResult> jobs;
  std::vector<LinkUse> links;
  std::vector<double> queue_max_bytes;  // [link]
  std::vector<LinkStalls> stalls;       // [link]; empty where the engine knows none
  std::vector<ClassUse> class_uses;     // [job * classes + class]
  std::vector<SeriesRow> series;
  std::vector<InjectionUse> injection;  // of the NICs that were held back

  std::uint64_t messages() const;
  std::uint64_t bytes() const;
};

struct ProgressReport {
  std::uint32_t replica{0};
  double simulated_s{0};
  std::uint64_t events{0};
  std::uint64_t messages{0};
  std::uint32_t finished_ranks{0};  // of jobs that are not in the background, as the others
  std::uint32_t ranks{0};
  std::uint32_t steps{0};                     // of the first such job, that all its ranks have finished
  std::optional<std::uint64_t> steps_in_all;  // where it is known
};

// Called every few hundred thousand events.
using ProgressSink = std::function<void(const ProgressReport&)>;

// Simulates one replica of `config` from start to end. Throws SimulationError when the ranks do not finish or messages
// remain, and UserError for rank classes that a profile lacks.
ReplicaResult simulate(const std::vector<Program>& programs, const RunConfig& config, std::uint32_t replica,
                       const ProgressSink& progress = {});

}  // namespace manynode::fast
