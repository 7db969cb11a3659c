// Algorithms by name, and what "auto" stands for.
#include <map>
#include <stdexcept>

#include "../source/nearest.hpp"
#include "algorithm.hpp"
#include "manynode/error_report.hpp"
#include "select.hpp"

namespace manynode {
namespace collectives {

std::string choose_automatically(const std::string& collective, int size, std::uint64_t bytes) {
  const bool power_of_two = power_of_two_below(size) == size;
  if (collective == "bcast") {
    return bytes < 12288 || size < 8 ? "binomial" : "scatter_allgather";
  }
  if (collective == "allreduce") {
    const bool parts_for_all = bytes / kElementBytes >= static_cast<std::uint64_t>(power_of_two_below(size));
    return bytes <= 2048 || !parts_for_all ? "recursive_doubling" : "reduce_scatter_allgather";
  }
  if (collective == "allgather") {
    const std::uint64_t total = bytes * static_cast<std::uint64_t>(size);
    if (power_of_two && total < 524288) {
      return "recursive_doubling";
    }
    return !power_of_two && total < 81920 ? "bruck" : "ring";
  }
  if (collective == "alltoall") {
    return bytes <= 32768 ? "scattered" : "pairwise";
  }
  return collective == "barrier" ? "dissemination" : "binomial";
}

Algorithm find_algorithm(const std::string& collective, const std::string& name) {
  const std::string file_name = collective + "_" + name;
  for (const AlgorithmEntry& entry : algorithms()) {
    if (file_name == entry.file_name) {
      return entry.run;
    }
  }
  std::vector<std::string> names = collective_algorithms(collective);
  names.emplace_back("auto");
  throw UserError("unknown algorithm", "collectives." + collective, name, joined(names), did_you_mean(name, names));
}

}  // namespace collectives

std::vector<std::string> collective_algorithms(const std::string& collective) {
  std::vector<std::string> names;
  const std::string prefix = collective + "_";
  for (const collectives::AlgorithmEntry& entry : collectives::algorithms()) {
    const std::string file_name = entry.file_name;
    if (file_name.rfind(prefix, 0) == 0) {
      names.push_back(file_name.substr(prefix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_collective_choice(const CollectiveChoice& choice) {
  const std::map<std::string, std::string> chosen = {{"barrier", choice.barrier}, {"bcast", choice.bcast},
                                                     {"reduce", choice.reduce},   {"allreduce", choice.allreduce},
                                                     {"gather", choice.gather},   {"allgather", choice.allgather},
                                                     {"scatter", choice.scatter}, {"alltoall", choice.alltoall}};
  for (const auto& [collective, name] : chosen) {
    if (name != "auto") {
      collectives::find_algorithm(collective, name);
    }
  }
}

}  // namespace manynode
