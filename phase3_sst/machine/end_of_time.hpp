// Explains why a simulation reached the end of simulated time (sim_time.hpp): the slowest parts of the network.
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

// Rounded to four digits.
std::string rounded(double number);

// The lowest bandwidth on a route between two nodes, of links and NICs.
KeyValue slowest_bandwidth(const NetworkConfig& network);

// The slowest parts for a message of `bytes`, the slowest first: lines of text that name the keys.
std::vector<std::string> longest_parts(const RunConfig& config, double bytes);

// The error that ends the run. `when` names the last event, `details` where the time went.
SimulationError end_of_time_error(const RunConfig& config, const std::string& when, std::vector<std::string> details,
                                  double mean_bytes);

}  // namespace manynode::network
