// Simulates one replica, for simulate(). Split over replica.cpp (the event loop and the ranks' programs), protocol.cpp
// (messages: matching, eager and rendezvous), on_arrival.cpp (processors that receive messages on arrival),
// unfinished.cpp (the report of waiting ranks) and too_long.cpp (errors for operations that take too long).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "fixed_array.hpp"
#include "message_order.hpp"
#include "network.hpp"
#include "overhead.hpp"
#include "processor.hpp"
#include "rank.hpp"
#include "simulator.hpp"
#include "time_series.hpp"

namespace manynode::network {

class Replica {
 public:
  Replica(const std::vector<Program>& programs, const RunConfig& config, std::uint32_t replica);

  ReplicaResult run(const ProgressSink& progress);

 private:
  struct Job {
    const JobConfig* config{nullptr};
    const Application* application{nullptr};
    std::uint32_t first{0};  // its rank 0 among the ranks of the run
    std::uint32_t size{0};
    std::size_t phases{0};
    std::optional<TimingModel> timing;
    std::vector<std::uint32_t> draws;          // [rank * phases + phase]
    std::vector<std::uint32_t> ranks_in_step;  // [step] ranks that have finished it
    std::uint32_t finished{0};
  };

  void add_job(const Program& program, const JobConfig& config, std::uint32_t replica);

  // Executes calls of a rank until it waits, pauses between steps, or finishes.
  void advance(std::uint32_t rank);
  // Provides the calls of the next step; false if the rank pauses or has finished.
  bool next_step(Rank& rank, std::uint32_t index);
  void end_step(Rank& rank);
  // These return false if the rank has to wait; they are called again when it can continue.
  bool start(Rank& rank, std::uint32_t index, const Call& call);
  bool execute(Rank& rank, std::uint32_t index, const Primitive& primitive);
  Picoseconds compute_time(const Rank& rank, std::uint32_t index, std::uint32_t phase);
  // The use of a rank's time. Compute: `amount` is the phase; else bytes.
  enum class Spent : std::uint8_t {
    Compute,
    Pause,
    Reduce,
    Copy,
    Fresh,
    CollectiveCall,
    CollectiveStep,
    Send,
    Receive
  };
  void spend(Rank& rank, std::uint32_t index, Picoseconds duration, Spent on, std::uint64_t amount) {
    if (duration > kEndOfTime - rank.clock) [[unlikely]]
      refuse_time(rank, index, duration, on, amount);
    rank.clock += duration;
  }
  void compute(Rank& rank, std::uint32_t index, std::uint32_t phase, std::uint64_t pause);
  // Reductions, copies and the other work of collectives.
  void work_locally(Rank& rank, std::uint32_t index, const Primitive& primitive);

  // too_long.cpp. check_length() throws for a message that takes too long, the others always; the errors name the keys.
  void check_length(const Rank& rank, std::uint32_t index, const Message& message) const;
  [[noreturn]] void refuse_time(const Rank& rank, std::uint32_t index, Picoseconds duration, Spent on,
                                std::uint64_t amount) const;
  [[noreturn]] void refuse_end_of_time() const;
  [[noreturn]] void refuse_bytes(const Message& message) const;

  // protocol.cpp
  void start_message(Rank& rank, std::uint32_t index, const Call& call);
  // An eager send leaves no record if none is needed.
  void start_send(Rank& rank, std::uint32_t index, const Primitive& primitive, bool record_eager);
  void start_receive(Rank& rank, std::uint32_t index, const Primitive& primitive);
  void start_remote(Rank& rank, std::uint32_t index, const Primitive& primitive);
  // A free message with the ends of the primitive and its NICs.
  std::uint32_t new_message(const Rank& rank, std::uint32_t index, const Primitive& primitive);
  // The number of the NIC, among those of its node, over which a message of a rank goes.
  std::uint32_t rail_of(std::uint32_t index, std::uint32_t destination);
  bool wait(Rank& rank, std::uint32_t index, std::span<const std::uint32_t> requests, CallKind call);
  // The same for the wait that is the next primitive, together with those that follow it.
  bool wait_for_primitives(Rank& rank, std::uint32_t index);
  std::uint32_t slot_of(std::uint32_t index, std::uint32_t request, CallKind call);
  void deliver(const Progress& progress);
  // A message has reached its receiver; the second is for networks in which messages overtake each other.
  void arrive(std::uint32_t message);
  void arrive_in_order(std::uint32_t message);
  // Matches a message and a receive at `time`, when both are there.
  void match(std::uint32_t message, std::uint32_t receive, Picoseconds time);
  void complete(std::uint32_t rank, std::uint32_t request, Picoseconds time);

  // on_arrival.cpp, for processors that receive messages on arrival
  void plan_start(std::uint32_t rank);
  // Whether the operation may run now; if not, the processor calls advance() later.
  bool its_turn(Rank& rank, std::uint32_t index, Operation operation);
  void note_send(const Rank& rank, std::uint32_t index, std::uint32_t message);
  void add_turn(const Turn& turn, Picoseconds time);
  void gather_turns();
  void take_turn(const Event& event);
  // Lets a processor do its current task, and adds a turn for the next one.
  void work(std::uint32_t rank);
  void arm(std::uint32_t rank, const std::optional<Processor::Task>& task);
  void perform(std::uint32_t rank, const Processor::Task& task);
  void bring_to_processor(std::uint32_t message);
  void take_in(Rank& rank, Processor& processor);

  // unfinished.cpp: throws SimulationError unless every rank has finished and every message was received.
  void check_end() const;
  std::string rank_name(std::uint32_t rank) const;
  std::string describe_wait(std::uint32_t rank) const;
  std::string describe_message(const Message& message) const;
  std::string describe_receive(std::uint32_t rank, std::uint32_t slot) const;
  std::vector<std::string> describe_unmatched(std::size_t most) const;

  ReplicaResult run_to_end(const ProgressSink& progress);
  void look_ahead();
  void prefetch_receive(const Message& message) const;
  void prefetch_receiver(std::uint32_t rank) const;
  void report(const ProgressSink& progress) const;

  const RunConfig& config_;
  Overhead overhead_send_;
  Overhead overhead_receive_;
  std::vector<std::pair<Picoseconds, Picoseconds>>
      completions_;                    // of a wait: when each request completed, its overhead
  std::vector<std::uint32_t> waited_;  // of a wait for primitives
  Picoseconds collective_call_;
  Picoseconds collective_step_;
  EventQueue events_;
  Network network_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> nodes_;  // [rank] of the machine
  std::vector<std::uint8_t> rails_;   // [rank] which of its node's NICs (by-message: its next one)
  std::vector<Mailbox> mailboxes_;    // [rank]
  StepStore steps_;
  FixedArray<Rank> ranks_;
  std::uint64_t most_bytes_of_job_;
  std::uint64_t most_unchecked_bytes_;  // of a message
  std::uint32_t foreground_{0};         // ranks of jobs that are not in the background
  std::uint32_t finished_{0};           // of these
  MessageOrder order_;                  // used where messages overtake each other
  // Used if processors receive messages on arrival.
  const bool on_arrival_;
  std::vector<Processor> processors_;                                   // [rank]
  std::vector<std::uint64_t> message_ages_;                             // [message]
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;  // of the moment `turns_time_`
  Picoseconds turns_time_{-1};
  std::uint64_t ages_{0};
  std::uint32_t working_{kNone};  // the processor that works now
  // [event, in turn] the message that it will bring, as known when the event came close.
  std::array<std::uint32_t, 64> arriving_{};
  ReplicaResult result_;
};

}  // namespace manynode::network
