// A machine with round figures, and tiny programs that SimGrid runs on it. Formulas in the tests are sums of the times
// that are named here.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "body_application.hpp"
#include "manynode/error_report.hpp"
#include "run_config.hpp"
#include "simulation.hpp"
#include "simulation_error.hpp"
#include "topologies/fat_tree.hpp"

namespace manynode::smpi_engine::testing {

// Seconds.
inline constexpr double kOverheadSend = 300e-9;
inline constexpr double kOverheadReceive = 200e-9;
inline constexpr double kNicLatency = 50e-9;
inline constexpr double kLinkLatency = 90e-9;
inline constexpr double kSwitchLatency = 100e-9;
inline constexpr double kPerByte = 1e-10;  // links and NICs: 10 GB/s
inline constexpr double kReducePerByte = 2e-10;
inline constexpr double kIntranodeLatency = 400e-9;
inline constexpr double kIntranodePerByte = 1.25e-10;
inline constexpr std::uint64_t kEagerLimit = 16'384;

// How near a formula a simulated time is: the solver of SimGrid stops at a billionth, times are rounded to picoseconds.
inline constexpr double kNear = 5e-12;

inline constexpr double path_latency(int links) {
  return 2 * kNicLatency + links * kLinkLatency + (links - 1) * kSwitchLatency;
}

inline constexpr double eager_time(std::uint64_t bytes, int links) {
  return kOverheadSend + path_latency(links) + static_cast<double>(bytes) * kPerByte + kOverheadReceive;
}

inline constexpr double rendezvous_time(std::uint64_t bytes, int links) {
  return eager_time(bytes, links) + 2 * path_latency(links);
}

// When its sender is done: the acknowledgement has come back.
inline constexpr double acknowledged_time(std::uint64_t bytes, int links) {
  return rendezvous_time(bytes, links) - kOverheadReceive + path_latency(links);
}

// Two leaves of two hosts and two roots by default: hosts 0 and 1 are two links apart, 0 and 2 four.
inline network::RunConfig machine(std::vector<std::int64_t> children = {2, 2},
                                  std::vector<std::int64_t> parents = {1, 2}, std::uint32_t ranks_per_node = 1) {
  network::RunConfig config;
  auto& network = config.network;
  const std::vector<std::int64_t> parallel(children.size(), 1);
  network.topology = std::make_shared<network::FatTree>(children, parents, parallel, "network.topology");
  network.link = {1e10, kLinkLatency};
  network.switch_latency_s = kSwitchLatency;
  network.host.overhead_send = {{0, kOverheadSend, 0}};
  network.host.overhead_recv = {{0, kOverheadReceive, 0}};
  network.host.eager_limit_bytes = kEagerLimit;
  network.host.nic_bandwidth_Bps = 1e10;
  network.host.nic_latency_s = kNicLatency;
  network.host.reduce_bandwidth_Bps = 1 / kReducePerByte;
  network.intranode = {kIntranodeLatency, 1 / kIntranodePerByte};
  network::JobConfig job;
  job.application = "program";
  job.nodes = network.topology->hosts();
  job.ranks_per_node = ranks_per_node;
  config.jobs.push_back(job);
  return config;
}

using manynode::testing::Body;
using manynode::testing::BodyApplication;

inline network::Program program(Body body, int steps = 1) {
  return {std::make_shared<BodyApplication>(std::move(body), steps), std::nullopt};
}

inline network::ReplicaResult run(const network::RunConfig& config, Body body, int steps = 1) {
  return simulate_replica({program(std::move(body), steps)}, config, 0);
}

inline double makespan_s(const network::RunConfig& config, Body body, int steps = 1) {
  return network::to_seconds(run(config, std::move(body), steps).makespan);
}

// The error that a run ends with, as one text: what it says, then the details.
inline std::string failure(const network::RunConfig& config, Body body) {
  try {
    run(config, std::move(body));
  } catch (const network::SimulationError& error) {
    std::string text = error.what();
    for (const auto& line : error.details) text += "\n" + line;
    return text;
  }
  return "no error";
}

// Rank `source` sends to rank `destination`, all others do nothing.
inline Body one_way(std::uint64_t bytes, int destination, int source = 0) {
  return [=](Mpi& mpi) {
    if (mpi.rank() == source) mpi.send(destination, bytes);
    if (mpi.rank() == destination) mpi.recv(source, bytes);
  };
}

}  // namespace manynode::smpi_engine::testing
