// The result of a run as files: result.json, ranks.csv and links.csv in one directory (the README lists the columns).
// They are written under temporary names and renamed at the end, result.json last: where it exists, all is there.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "simulator.hpp"
#include "topology.hpp"

namespace manynode::fast {

// The shortest text that reads back as the same number, so that the same inputs give the same bytes.
std::string shortest(double number);

class ResultWriter {
 public:
  // Makes the directory. Throws UserError when it or its files cannot be written, as the members do.
  ResultWriter(std::filesystem::path directory, std::string version);

  // Writes the tables of a replica and keeps what result.json says of it.
  void add(const ReplicaResult& result, const Topology& topology);

  // Writes result.json and gives all files their names.
  void finish();

 private:
  struct File {
    std::string name;
    std::ofstream stream;
  };

  std::filesystem::path temporary(const std::string& name) const { return directory_ / (name + ".part"); }
  void open(File& file);
  void close(File& file);
  [[noreturn]] void refuse(const std::string& name) const;

  std::filesystem::path directory_;
  std::string version_;
  File ranks_{"ranks.csv", {}};
  File links_{"links.csv", {}};
  std::vector<std::string> replicas_;  // objects of result.json
};

}  // namespace manynode::fast
