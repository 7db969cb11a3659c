// Writes the result of a run: result.json and tables in one directory (the README lists the columns). The files have
// temporary names until the end, and result.json is renamed last: if it exists, the result is complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "replica_result.hpp"
#include "run_config.hpp"

namespace manynode::network {

// The shortest text that reads back as the same number: the same inputs give the same bytes.
std::string shortest(double number);

struct EngineName {
  std::string name;
  std::string version;
};

class ResultWriter {
 public:
  // Makes the directory. Throws UserError if it or its files cannot be written, as the other members do. `config`
  // outlives this object.
  ResultWriter(std::filesystem::path directory, EngineName engine, const RunConfig& config);

  // Writes the tables of a replica and keeps its entry for result.json.
  void add(const ReplicaResult& result);

  // Writes result.json and gives all files their final names.
  void finish();

 private:
  struct File {
    std::string name;
    std::ofstream stream;
  };

  std::filesystem::path temporary(const std::string& name) const { return directory_ / (name + ".part"); }
  void open(File& file, const std::string& columns);
  void close(File& file);
  [[noreturn]] void refuse(const std::string& name) const;
  void add_ranks(const ReplicaResult& result);
  void add_links(const ReplicaResult& result);
  void add_series(const ReplicaResult& result);
  void add_injection(const ReplicaResult& result);

  std::filesystem::path directory_;
  EngineName engine_;
  const RunConfig& config_;
  std::vector<std::string> classes_;  // names of the classes of links
  File ranks_{"ranks.csv", {}};
  File links_{"links.csv", {}};
  File link_jobs_{"link_jobs.csv", {}};
  File series_{"series.csv", {}};        // only where the run asks for counters
  File injection_{"injection.csv", {}};  // only where jobs are held back
  std::vector<std::string> replicas_;    // objects of result.json
};

}  // namespace manynode::network
