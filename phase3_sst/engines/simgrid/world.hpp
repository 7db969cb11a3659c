// State shared by the ranks of one replica: the run, the machine, the records for the result, and the finished ranks.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "envelopes.hpp"
#include "machine.hpp"
#include "manynode/timing.hpp"
#include "replica_result.hpp"

namespace manynode::smpi_engine {

class Rank;

// How a replica reports its result to the waiting process.
struct Outlet {
  std::function<void(const network::ReplicaResult&)> result;  // ends the process
  std::function<void(const std::exception&)> error;           // ends the process
  network::ProgressSink progress;                             // may be empty
};

class World {
 public:
  struct Job {
    const network::JobConfig* config{nullptr};
    const Application* application{nullptr};
    std::string instance;  // SMPI's name of it
    std::size_t phases{0};
    std::optional<TimingModel> timing;
    std::vector<std::uint32_t> nics;           // [rank]
    std::vector<std::uint32_t> ranks_in_step;  // [step] ranks that have finished it
    std::uint32_t finished{0};
  };

  // The arguments outlive this object.
  World(const std::vector<network::Program>& programs, const network::RunConfig& config, std::uint32_t replica,
        Machine& machine, const Outlet& outlet);
  ~World();

  // Makes an actor of SimGrid for each rank. Time does not move yet.
  void start_ranks();

  // Waits until all ranks of all jobs have arrived: the beginning of the run.
  void meet();
  // Time since the beginning.
  network::Picoseconds now() const;

  const network::RunConfig& config() const { return config_; }
  const Job& job(std::size_t job) const { return jobs_[job]; }
  const Outlet& outlet() const { return outlet_; }
  Envelopes& envelopes() { return envelopes_; }
  std::array<network::OperationUse, kCallKinds>& uses(std::size_t job, std::uint32_t rank) {
    return result_.jobs[job].ranks[rank];
  }

  // Latency from rank to rank of an empty message.
  double latency_s(std::size_t job, int source, int destination) {
    const auto& nics = jobs_[job].nics;
    return machine_.latency_s(nics[static_cast<std::size_t>(source)], nics[static_cast<std::size_t>(destination)]);
  }
  // A message of SMPI leaves its rank: counts it on the links of its route.
  void sent(std::size_t job, std::uint32_t source, std::uint32_t destination, std::uint64_t bytes);
  void count(std::size_t job, std::uint32_t source, std::uint32_t destination, std::uint64_t bytes);
  // Takes a message from the NIC of one rank to that of another; the actor waits for it.
  void carry(std::size_t job, std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
    machine_.carry(jobs_[job].nics[source], jobs_[job].nics[destination], bytes);
  }
  void step_ended(std::size_t job, std::size_t step);
  // Called once by each rank of a job that is not in the background. The last one ends the simulation.
  void finished(std::size_t job);
  // Reports progress now and then.
  void tick();

  // "rank 3", with its job if there are several.
  std::string rank_name(std::size_t job, int rank) const;
  // Reports the deadlock when SimGrid has nothing left to do but ranks wait.
  void stand_still();

 private:
  void finish();
  void report() const;

  const network::RunConfig& config_;
  Machine& machine_;
  const Outlet& outlet_;
  std::vector<Job> jobs_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  Envelopes envelopes_;
  network::ReplicaResult result_;
  ::simgrid::s4u::BarrierPtr all_there_;
  double beginning_s_{0};        // on SimGrid's clock
  std::uint32_t foreground_{0};  // ranks of jobs that are not in the background
  std::uint32_t finished_{0};    // of these
  std::chrono::steady_clock::time_point next_report_;
};

}  // namespace manynode::smpi_engine
