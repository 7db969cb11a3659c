// The machinery behind simulate(): one object is one replica in the making. Split over replica.cpp (ranks and
// protocols) and unfinished.cpp (the account of who waits for what).
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "rank.hpp"
#include "simulator.hpp"

namespace manynode::fast {

class Replica {
 public:
  Replica(const Application& application, const RunConfig& config, const TimingProfile* profile, std::uint32_t replica);

  ReplicaResult run(const ProgressSink& progress);

 private:
  // Executes primitives of a rank until it waits, pauses between steps, or finishes.
  void advance(std::uint32_t rank);
  // Makes the next primitive available; false when the rank pauses or has finished.
  bool fetch(Rank& rank, std::uint32_t index);
  void end_step(Rank& rank);
  // Returns false when the rank has to wait.
  bool execute(Rank& rank, std::uint32_t index, const Primitive& primitive);
  void start_send(Rank& rank, std::uint32_t index, const Primitive& primitive);
  void start_receive(Rank& rank, std::uint32_t index, const Primitive& primitive);
  bool wait(Rank& rank, std::uint32_t index, const Primitive& primitive);
  Picoseconds compute_time(std::uint32_t index, std::uint32_t phase);
  std::uint32_t add_request(Rank& rank, std::uint32_t index, const Primitive& primitive);

  void deliver(std::uint32_t message, const Progress& progress);
  void arrive(std::uint32_t message);
  // Brings a message and a receive together at `time`, when both are there.
  void match(std::uint32_t message, std::uint32_t request, Picoseconds time);
  void complete(std::uint32_t request, Picoseconds time);

  // Throws SimulationError unless every rank has finished and every message was received.
  void check_end() const;
  std::string describe_wait(std::uint32_t rank) const;
  std::string describe_message(const Message& message) const;
  std::string describe_receive(const Request& request) const;
  std::vector<std::string> describe_unmatched(std::size_t most) const;

  void report(const ProgressSink& progress);

  const RunConfig& config_;
  std::uint32_t size_;
  Picoseconds overhead_send_;
  Picoseconds overhead_receive_;
  ByteTime overhead_per_byte_;
  ByteTime reduce_time_;
  std::size_t phases_;
  std::optional<TimingModel> timing_;
  std::vector<std::uint32_t> draws_;  // [rank * phases_ + phase]
  EventQueue events_;
  Network network_;
  Pool<Request> requests_;
  std::deque<Rank> ranks_;  // a deque never moves what it holds
  std::uint32_t finished_{0};
  std::vector<std::uint32_t> ranks_in_step_;  // [step] ranks that have finished it
  ReplicaResult result_;
};

}  // namespace manynode::fast
