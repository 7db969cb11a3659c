// A small machine with round figures, and tiny programs to run on it. Formulas in the tests are sums of the latencies
// that are named here.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "body_application.hpp"
#include "run_config.hpp"
#include "simulation_error.hpp"
#include "simulator.hpp"
#include "topologies/fat_tree.hpp"

namespace manynode::network::testing {

// Picoseconds.
inline constexpr Picoseconds kOverheadSend = 300'000;
inline constexpr Picoseconds kOverheadReceive = 200'000;
inline constexpr Picoseconds kNicLatency = 50'000;
inline constexpr Picoseconds kLinkLatency = 90'000;
inline constexpr Picoseconds kSwitchLatency = 100'000;
inline constexpr Picoseconds kPerByte = 100;        // links and NICs: 10 GB/s
inline constexpr Picoseconds kReducePerByte = 200;  // 5 GB/s
inline constexpr Picoseconds kIntranodeLatency = 400'000;
inline constexpr Picoseconds kIntranodePerByte = 125;  // 8 GB/s
inline constexpr std::uint64_t kEagerLimit = 16'384;

// From the sender's processor to the receiver's, without bytes, over a route of so many links.
inline constexpr Picoseconds path_latency(int links) {
  return kNicLatency + links * kLinkLatency + (links - 1) * kSwitchLatency + kNicLatency;
}

inline constexpr Picoseconds bytes_time(std::uint64_t bytes) { return static_cast<Picoseconds>(bytes) * kPerByte; }

inline constexpr Picoseconds eager_time(std::uint64_t bytes, int links) {
  return kOverheadSend + path_latency(links) + bytes_time(bytes) + kOverheadReceive;
}

// Request to send, clear to send and data travel one after the other.
inline constexpr Picoseconds rendezvous_time(std::uint64_t bytes, int links) {
  return kOverheadSend + 3 * path_latency(links) + bytes_time(bytes) + kOverheadReceive;
}

// When its sender is done: the acknowledgement has come back.
inline constexpr Picoseconds acknowledged_time(std::uint64_t bytes, int links) {
  return kOverheadSend + 4 * path_latency(links) + bytes_time(bytes);
}

// When a rank of the first job has finished: its calls fill its time.
inline Picoseconds finish_time(const ReplicaResult& result, std::size_t rank) {
  Picoseconds sum = 0;
  for (const OperationUse& use : result.jobs[0].ranks[rank]) sum += use.time;
  return sum;
}

// Two leaves of two hosts and two roots by default: hosts 0 and 1 are two links apart, 0 and 2 four.
inline RunConfig small_machine(std::vector<std::int64_t> children = {2, 2}, std::vector<std::int64_t> parents = {1, 2},
                               std::vector<std::int64_t> parallel = {1, 1}) {
  RunConfig config;
  config.network.topology = std::make_shared<FatTree>(children, parents, parallel, "network.topology");
  config.jobs.resize(1);
  config.jobs[0].nodes = config.network.topology->hosts();
  config.network.link = {1e10, 90e-9};
  config.network.switch_latency_s = 100e-9;
  config.network.chunk_bytes = 2048;
  config.network.host.overhead_send = {{0, 300e-9, 0}};
  config.network.host.overhead_recv = {{0, 200e-9, 0}};
  config.network.host.eager_limit_bytes = kEagerLimit;
  config.network.host.nic_bandwidth_Bps = 1e10;
  config.network.host.nic_latency_s = 50e-9;
  config.network.host.reduce_bandwidth_Bps = 5e9;
  config.network.intranode.latency_s = 400e-9;
  config.network.intranode.bandwidth_Bps = 8e9;
  return config;
}

using manynode::testing::Body;
using manynode::testing::BodyApplication;

inline Program loaded(Body body, int steps = 1, bool one_sided = false) {
  return {std::make_shared<BodyApplication>(std::move(body), steps, one_sided), std::nullopt};
}

inline ReplicaResult run(const RunConfig& config, Body body, int steps = 1) {
  return simulate({loaded(std::move(body), steps)}, config, 0);
}

// The error that a run ends with, as one text: what it says, then the details.
inline std::string failure(const RunConfig& config, Body body) {
  try {
    run(config, std::move(body));
  } catch (const SimulationError& error) {
    std::string text = error.what();
    for (const auto& line : error.details) text += "\n" + line;
    return text;
  }
  return "no error";
}

// Rank 0 sends to `peer`, all others do nothing.
inline Body one_way(std::uint64_t bytes, int peer) {
  return [=](Mpi& mpi) {
    if (mpi.rank() == 0) mpi.send(peer, bytes);
    if (mpi.rank() == peer) mpi.recv(0, bytes);
  };
}

}  // namespace manynode::network::testing
