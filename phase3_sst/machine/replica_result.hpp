// The results of one replica, and the inputs of an engine besides the run file. The same for every engine.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "link.hpp"
#include "manynode/skeleton.hpp"
#include "manynode/timing.hpp"
#include "run_config.hpp"
#include "sim_time.hpp"

namespace manynode::network {

// What one job brought to the links of one class.
struct ClassUse {
  std::uint64_t bytes{0};
  std::uint64_t chunks{0};
  TimeSum busy{0};
  TimeSum stall{0};
};

inline constexpr std::uint32_t kAllLinks = 0xffffffffu;

// LinkStalls, summed over links.
struct StallSums {
  TimeSum credit{0};
  TimeSum inq{0};
};

struct SeriesRow {
  Picoseconds start{0};
  Picoseconds end{0};
  std::uint32_t link{kAllLinks};  // or all links of the class
  std::uint8_t link_class{0};
  std::uint64_t bytes{0};  // of chunks that started in the interval
  TimeSum busy{0};         // within the interval
  TimeSum stall{0};        // of chunks that came to the link in the interval
  StallSums stalls;        // within the interval
  double queue_bytes{0};   // unsent at its end
};

// What the control of one NIC did.
struct InjectionUse {
  std::uint32_t job{0};
  std::uint32_t nic{0};
  std::uint64_t bytes{0};
  std::uint64_t held_bytes{0};  // of chunks that waited
  Picoseconds held{0};          // while at least one chunk waited
  double rate_mean_Bps{0};      // of R, over the time of the run
  double rate_least_Bps{0};
};

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

}  // namespace manynode::network
