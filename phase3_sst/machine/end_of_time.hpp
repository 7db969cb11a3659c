// Why a simulation has come to the end of simulated time (sim_time.hpp): which parts of the network take longest.
#pragma once

#include <string>
#include <vector>

#include "run_config.hpp"
#include "simulation_error.hpp"

namespace manynode::network {

// A key of the experiment and its value.
struct KeyValue {
  std::string key;
  double value{0};
};

// With four digits.
std::string rounded(double number);

// The least bandwidth on the way between two nodes: of links and NICs.
KeyValue slowest_bandwidth(const NetworkConfig& network);

// What takes longest for a message of so many bytes, the longest first: lines for people, which name the keys.
std::vector<std::string> longest_parts(const RunConfig& config, double bytes);

// The error that ends the run. `when` says what happened last, `details` who spent the time.
SimulationError end_of_time_error(const RunConfig& config, const std::string& when, std::vector<std::string> details,
                                  double mean_bytes);

}  // namespace manynode::network
