// manynode-routes: the routes between nodes, as the engines' topologies compute them.
//
// `manynode-routes RUN.json --output DIR [--pairs FILE] [--draws N | --possible]` reads a run file (network-run/2) and
// writes:
//
//   routes.csv  source, destination (nodes of the machine), way, links (numbers, in order, separated by blanks)
//   links.csv   link, class, source, target, bandwidth_Bps of every link of the network
//
// The pairs are all of the first job's nodes, or those of `--pairs`: a source and a destination (nodes of the machine)
// on each line. With fixed routes, a pair has one path per rail. If routes depend on load or chance, the network is
// idle and each rail's route is drawn `--draws` times, to include all routes that an idle network may choose. With
// `--possible`, routes.csv has each rail's routes that any load and chance may choose; one of parallel links stands for
// all.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "manynode/error_report.hpp"
#include "run_config.hpp"

namespace manynode::network {
namespace {

// SplitMix64 (Steele, Lea and Flood, 2014): turns neighbouring numbers into unrelated ones.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15u;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

class Routes {
 public:
  explicit Routes(const Topology& topology) : topology_(topology), idle_(topology.adaptive() ? topology.links() : 0) {}

  // A route of an idle network.
  const std::vector<LinkId>& drawn(std::uint32_t source, std::uint32_t destination, std::uint64_t random) {
    route_.resize(topology_.max_hops());
    std::uint32_t hops = 0;
    do {
      hops = topology_.extend({source, destination, random}, hops, route_.data(), LinkLoads(idle_.data(), 0));
    } while (topology_.host_behind(route_[hops - 1]) != destination);
    route_.resize(hops);
    return route_;
  }

 private:
  const Topology& topology_;
  std::vector<LinkUse> idle_;
  std::vector<LinkId> route_;
};

std::ofstream opened(const std::filesystem::path& path, const char* header) {
  std::ofstream file(path);
  file << header << '\n';
  return file;
}

void close(std::ofstream& file, const std::filesystem::path& path) {
  file.close();
  if (!file) throw std::runtime_error(path.string() + " could not be written completely");
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs pairs_of(const JobConfig& job) {
  Pairs pairs;
  for (std::uint32_t a = 0; a < job.nodes; ++a) {
    for (std::uint32_t b = 0; b < job.nodes; ++b) {
      if (a != b) pairs.emplace_back(job.hosts.empty() ? a : job.hosts[a], job.hosts.empty() ? b : job.hosts[b]);
    }
  }
  return pairs;
}

Pairs read_pairs(const std::string& path, std::uint32_t nodes) {
  std::ifstream file(path);
  Pairs pairs;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::string rest;
    if (!(words >> from >> to) || words >> rest || from >= nodes || to >= nodes || from == to) {
      throw UserError("this is no pair of nodes", path + ": line " + std::to_string(pairs.size() + 1), line,
                      "two different numbers from 0 to " + std::to_string(nodes - 1), "correct the line");
    }
    pairs.emplace_back(from, to);
  }
  if (!file.eof()) throw UserError("the pairs cannot be read", path, "", "a text file", "check the path");
  return pairs;
}

// `draws`: routes of each rail where they depend on chance; 0: all that are possible.
void write_routes(const NetworkConfig& network, const Pairs& pairs, std::uint32_t draws,
                  const std::filesystem::path& path) {
  const Topology& topology = *network.topology;
  const HostConfig& host = network.host;
  const std::uint32_t rails = host.rails;
  const std::uint32_t times = topology.adaptive() ? draws : 1;
  Routes routes(topology);
  std::ofstream out = opened(path, "source,destination,way,links");
  for (const auto& [from, to] : pairs) {
    std::uint32_t way = 0;
    const auto write = [&, from = from, to = to](const std::vector<LinkId>& route) {
      out << from << ',' << to << ',' << way++ << ',';
      for (std::size_t hop = 0; hop < route.size(); ++hop) out << (hop == 0 ? "" : " ") << route[hop];
      out << '\n';
    };
    for (std::uint32_t rail = 0; rail < rails && times == 0; ++rail) {
      for (const auto& route : topology.possible_routes(host.nic(from, rail), host.nic(to, rail))) write(route);
    }
    const std::uint64_t pair = std::uint64_t{from} << 32 | to;
    while (way < rails * times) {
      const std::uint32_t rail = way % rails;
      write(routes.drawn(host.nic(from, rail), host.nic(to, rail), mixed(mixed(pair) + way / rails)));
    }
  }
  close(out, path);
}

void write_links(const NetworkConfig& network, const std::filesystem::path& path) {
  const Topology& topology = *network.topology;
  const std::vector<std::string> classes = topology.link_classes();
  std::ofstream out = opened(path, "link,class,source,target,bandwidth_Bps");
  out.precision(17);
  for (LinkId link = 0; link < topology.links(); ++link) {
    const std::string& name = classes[topology.link_class(link)];
    const LinkDescription ends = topology.describe(link);
    out << link << ',' << name << ',' << ends.source << ',' << ends.target << ','
        << network.link_of_class(name).bandwidth_Bps << '\n';
  }
  close(out, path);
}

int run(int argc, char** argv) {
  CLI::App app{"manynode-routes: the routes between nodes of a run's machine"};
  std::string run_file;
  std::string output;
  std::string pairs;
  bool possible = false;
  std::uint32_t draws = 16;
  app.add_option("RUN.json", run_file, "the run, schema network-run/2")->required();
  app.add_option("--output", output, "directory for routes.csv and links.csv; made if need be")->required();
  app.add_option("--pairs", pairs, "file with a source and a destination on each line; default: all of the first job");
  auto* number = app.add_option("--draws", draws, "routes of a pair where they depend on chance");
  number->check(CLI::PositiveNumber);
  app.add_flag("--possible", possible, "all routes that load and chance may choose")->excludes(number);
  try {
    app.parse(argc, argv);
    const RunConfig config = read_run_config(run_file);
    std::filesystem::create_directories(output);
    write_links(config.network, std::filesystem::path(output) / "links.csv");
    const NetworkConfig& network = config.network;
    const std::uint32_t nodes = network.topology->hosts() / network.host.rails;
    write_routes(network, pairs.empty() ? pairs_of(config.jobs.front()) : read_pairs(pairs, nodes),
                 possible ? 0 : draws, std::filesystem::path(output) / "routes.csv");
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    print_error(std::cerr, UserError(error.what(), "command line", "", "", "see manynode-routes --help"));
    return kExitUsage;
  } catch (const std::invalid_argument& error) {
    print_error(std::cerr, error);
    return kExitUsage;
  } catch (const std::exception& error) {
    print_error(std::cerr, error);
    return kExitFailed;
  }
}

}  // namespace
}  // namespace manynode::network

int main(int argc, char** argv) { return manynode::network::run(argc, argv); }
