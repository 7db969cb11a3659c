// One rank: takes calls from its skeleton, requests ember's events call by call, and records their times.
//
// The engine calls advance() when all requested events have happened. Only one MPI call is requested at a time, with
// the compute phases before it. The time of advance() is therefore the end of that call, which needs no probe event.
// Compute phases return their own duration.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "copied_sends.hpp"
#include "event_sink.hpp"
#include "manynode/primitive.hpp"
#include "manynode/skeleton.hpp"
#include "replica_result.hpp"
#include "requests.hpp"
#include "sim_time.hpp"
#include "whole_nanoseconds.hpp"
#include "world.hpp"

namespace manynode::sst_element {

class RankProgram {
 public:
  // `rank` is the job's. `world` outlives this object.
  RankProgram(World& world, std::size_t job, int rank);
  // The lowering points into this object.
  RankProgram(const RankProgram&) = delete;
  RankProgram& operator=(const RankProgram&) = delete;

  // The program begins at `now`; called once, before advance().
  void begin(network::Picoseconds now);
  // All requested events have happened. Requests more; false if the rank has finished.
  bool advance(network::Picoseconds now, EventSink& sink);
  // The duration of a compute phase that begins now [ns].
  std::uint64_t draw(std::uint32_t phase);

  std::size_t job() const { return job_; }
  int rank() const { return rank_; }
  bool finished() const { return finished_; }
  network::Picoseconds clock() const { return clock_; }  // when advance() was called last
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::array<network::OperationUse, kCallKinds>& uses() const { return uses_; }

  // The rank's current operation, for the report of a run at a standstill.
  struct Present {
    std::string operation;  // "start" before the first
    int peer{kNoPeer};
    std::int32_t tag{0};
    std::uint64_t bytes{0};
    network::Picoseconds since{0};
  };
  Present present() const;

 private:
  // Requests events of a call; true if there are any. If these are not all, more_primitives() requests the rest. If
  // moves_pending_ is set, these are the pending non-blocking collectives, and the call is to be started after them.
  bool start(const Call& call, EventSink& sink);
  void more_primitives(EventSink& sink);
  void run_primitive(EventSink& sink);
  void work_locally(const Primitive& primitive, EventSink& sink);
  // The same for ranks that answer others while they wait.
  void more_answering(EventSink& sink);
  void run_answering(EventSink& sink);
  bool start_own_collective(const Call& call, EventSink& sink);
  // What the receive of a message costs beside what firefly charges; the time of a wait for such messages.
  network::Picoseconds owed(Communicator communicator, int sender, std::uint64_t bytes) const;
  network::Picoseconds owed(const Primitive& receive) const;
  void pay(network::Picoseconds time, EventSink& sink);
  // Whether nobody waits for a message, because the library has copied it.
  bool copied(int receiver, std::uint64_t bytes) const;
  static void await(std::span<RequestHandle> handles, EventSink& sink);
  void wait_for_lowered(std::uint32_t first, std::uint32_t count, EventSink& sink);
  // A send that blocks.
  void send(int receiver, std::uint32_t tag, std::uint64_t bytes, CallKind call, EventSink& sink);
  bool sendrecv(const Call& call, EventSink& sink);
  bool wait(const Call& call, EventSink& sink);
  void end_call(network::Picoseconds now);
  // Charges time to computing; returns it in whole nanoseconds.
  std::uint64_t take(network::Picoseconds duration);
  // Provides the calls of the next step; false if the rank has finished.
  bool next_step(network::Picoseconds now);
  // Makes firefly groups for the communicators made in this step; true if this requested events.
  bool make_groups(EventSink& sink);
  void count_message(std::uint64_t bytes);
  std::uint32_t to_ember(Communicator communicator, int rank) const;
  std::uint32_t to_ember(int world_rank) const;
  bool lower(const Call& call, EventSink& sink);
  RequestHandle* lowered(std::uint32_t request) { return &lowered_[request - first_lowered_]; }

  World& world_;
  const World::Job& shared_;
  const std::size_t job_;
  const int rank_;
  const int size_;

  std::unique_ptr<Skeleton> skeleton_;
  Communicators communicators_;
  Lowering lowering_;
  Calls calls_;  // of the present step
  std::size_t next_call_{0};
  std::uint32_t steps_{0};  // begun
  bool step_open_{false};
  bool last_step_{false};
  bool finished_{false};
  bool begun_{false};
  bool opened_{false};                     // answers others
  network::Picoseconds program_began_{0};  // of a job in the background: when it started this time

  bool in_call_{false};
  network::Picoseconds call_began_{0};
  std::uint64_t call_bytes_{0};
  std::vector<Primitive> primitives_;  // of the present call
  std::size_t next_primitive_{0};
  bool moves_pending_{false};
  std::uint32_t first_lowered_{0};
  std::vector<RequestHandle> lowered_;              // by request of the present call's primitives, less first_lowered_
  std::vector<network::Picoseconds> lowered_owed_;  // likewise; kCopied: nothing to wait for
  static constexpr network::Picoseconds kCopied = -1;
  CopiedSends copied_sends_;
  Requests requests_;
  std::unique_ptr<OneSided> one_sided_;  // if the application has one-sided calls
  std::vector<int> sent_;                // of an alltoallv of SST
  std::vector<int> received_;
  std::vector<std::uint32_t> groups_;  // firefly's number of each communicator, without the world; SST's collectives

  std::vector<std::uint32_t> draws_;  // [phase]
  WholeNanoseconds compute_time_;
  WholeNanoseconds local_time_;  // of own work in collectives
  WholeNanoseconds paid_time_;
  network::Picoseconds clock_{0};
  std::uint64_t messages_{0};
  std::uint64_t bytes_{0};
  std::array<network::OperationUse, kCallKinds> uses_{};
};

}  // namespace manynode::sst_element
