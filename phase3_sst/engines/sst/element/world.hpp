// State shared by the ranks of one SST process: the run, the applications and their compute times, the records of steps
// and jobs, and the result files.
//
// SST runs ranks in several threads at once. The run, which is read often, never changes after construction. Each rank
// keeps its own records; a lock is taken once per step.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "manynode/call.hpp"
#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "manynode/timing.hpp"
#include "one_sided.hpp"
#include "overhead.hpp"
#include "progress.hpp"
#include "replica_result.hpp"
#include "run_config.hpp"
#include "sim_time.hpp"

namespace manynode::sst_element {

class RankProgram;

struct Settings {
  std::string run;     // path of the network-run/2 file
  std::string output;  // folder of the parts
  bool own_collectives{false};
  std::uint32_t process{0};  // of SST's processes
  std::uint32_t processes{1};

  bool operator==(const Settings&) const = default;
};

class World {
 public:
  struct Job {
    const network::JobConfig* config{nullptr};
    const Application* application{nullptr};
    std::size_t phases{0};
    std::optional<TimingModel> timing;       // absent: computing takes no time
    std::optional<std::uint64_t> all_steps;  // of each rank, where that is known
  };

  // One program for each job of the run. Throws UserError.
  World(Settings settings, network::RunConfig config, std::vector<network::Program> programs);
  ~World();

  // Reads the run. Throws UserError, or InputError for a timing profile.
  static std::unique_ptr<World> read(const Settings& settings);

  // The world of this process: the first call makes it, and it is removed when nobody holds it. Throws as read(), and
  // UserError if `settings` differ from those of earlier calls.
  static std::shared_ptr<World> of_process(const Settings& settings);

  const network::RunConfig& config() const { return config_; }
  const Settings& settings() const { return settings_; }
  // The time of a rank's own work in a collective: a reduction, a copy, an entry or a step.
  network::Picoseconds local_time(const Primitive& primitive) const;
  // What a receive costs the rank that waits for it, without what firefly charges (README.md, "Overheads"): a short
  // message of the rank's own node.
  network::Picoseconds owed(const Job& job, int receiver, int sender, std::uint64_t bytes) const;
  // Likewise for a message of a remote operation, with the copy of its bytes within the node.
  network::Picoseconds owed_remotely(const Job& job, int receiver, int sender, std::uint64_t bytes) const;
  // Whether a message is short and stays in the node; not with SST's own collectives, which leave all to firefly.
  bool copied(const Job& job, int sender, int receiver, std::uint64_t bytes) const;
  const Job& job(std::size_t index) const { return jobs_[index]; }
  std::size_t jobs() const { return jobs_.size(); }

  RemoteOperations& remote_operations() { return remote_operations_; }

  // Called once for each motif, before any rank runs: the last of them to finish writes the parts.
  void join();
  // A rank that runs in this process; the object stays until the end. `rank` is the job's.
  RankProgram& add(std::size_t job, int rank);

  void step_ended(std::size_t job, std::size_t step, network::Picoseconds now);
  // Reports progress now and then.
  void tick(network::Picoseconds now);
  // A collective that ember lacks is expanded; reports this once.
  void tell_expanded(const Call& call);

  void rank_finished();
  // Writes the parts once. No rank may still run.
  void write_parts();

 private:
  void prepare_job(std::size_t index);
  void check_one_sided(const network::JobConfig& config) const;
  std::uint64_t steps_done() const;  // by all ranks here of the first job that is not in the background

  // Of one job in this process.
  struct Steps {
    std::vector<network::Picoseconds> end;  // [step] when the last rank so far finished it
    std::vector<std::uint32_t> ranks;       // [step] that have finished it
    std::uint32_t members{0};
  };

  Settings settings_;
  network::RunConfig config_;
  network::Overhead overhead_receive_;
  std::vector<network::Program> loaded_;  // [job]
  std::vector<Job> jobs_;
  RemoteOperations remote_operations_;
  mutable std::mutex mutex_;  // of what follows
  std::vector<std::unique_ptr<RankProgram>> programs_;
  std::vector<Steps> steps_;  // [job]
  std::size_t motifs_{0};
  std::size_t finished_{0};  // of them
  bool written_{false};
  Progress progress_;
  std::array<std::atomic<bool>, 2 * kCallKinds> told_{};  // [call, then its non-blocking form] that it is expanded
};

}  // namespace manynode::sst_element
