// The run file `node-run/1`, which phase2_nodesim/qemu/run_file.py writes: the node as plain numbers, and the job.
#pragma once

#include <string>
#include <vector>

#include "settings.hpp"

namespace manynode::node {

struct RunFile {
  NodeSettings node;
  bool counts_only = false;  // no times: instructions, branches, loads and stores
  bool shares = true;        // false: each rank has last level and memory for itself, cut to its part
  std::uint32_t ranks = 1, threads = 1, first_rank = 0;
  std::vector<std::uint32_t> last_level_of_slot, domain_of_slot;
  std::string shared_memory;  // path of the file that the ranks map; empty: none
  std::string directory;      // for the reports
};

// Throws std::runtime_error naming the file and what is wrong.
RunFile read_run_file(const std::string& path);

}  // namespace manynode::node
