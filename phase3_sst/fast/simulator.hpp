// One replica of a run: ranks that execute primitives, MPI matching, and the eager and rendezvous protocols.
//
// A rank has its own clock and runs ahead of the events: until it has to wait, its work does not depend on others.
// Computing and sending therefore need no events; only a message that leaves the rank becomes an event at the rank's
// time. A receive may be posted before an earlier message arrives; matching is unaffected. Messages keep their order of
// arrival, receives their posting order, and both prefer the earliest match: there is only one matching. Ranks pause
// between steps to limit memory to the messages of about one step.
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

// A job apart from its placement on the machine; one for each job of the run, in the same order.
struct Program {
  std::shared_ptr<const Application> application;
  std::optional<TimingProfile> profile;  // absent: computing takes no time
};

// The cost of one operation (compute or an MPI call) on one rank.
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
  std::vector<LinkStalls> stalls;       // [link]; empty if the engine has none
  std::vector<ClassUse> class_uses;     // [job * classes + class]
  std::vector<SeriesRow> series;
  std::vector<InjectionUse> injection;  // of the NICs with injection control

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

// Simulates one replica of `config` from start to end. Throws SimulationError if the ranks do not finish or messages
// remain, and UserError for rank classes missing in a profile.
ReplicaResult simulate(const std::vector<Program>& programs, const RunConfig& config, std::uint32_t replica,
                       const ProgressSink& progress = {});

}  // namespace manynode::fast
