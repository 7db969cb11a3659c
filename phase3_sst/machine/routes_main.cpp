// manynode-routes: the routes between the nodes of a job, as the engines' topologies compute them.
//
// `manynode-routes RUN.json --output DIR [--draws N]` reads a run file (network-run/2) and writes, of its first job:
//
//   routes.csv  source, destination (nodes of the machine), way, links (numbers, in order, separated by blanks)
//   links.csv   link, class, source, target, bandwidth_Bps of every link of the network
//
// With fixed routes, a pair has one path per rail. If routes depend on load or chance, the network is idle and each
// rail's route is drawn `--draws` times, to include all routes that an idle network may choose.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
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
  explicit Routes(const Topology& topology)
      : topology_(topology), idle_(topology.adaptive() ? topology.links() : 0), route_(topology.max_hops()) {}

  void write(std::ostream& out, std::uint32_t source, std::uint32_t destination, std::uint64_t random) {
    std::uint32_t hops = 0;
    do {
      hops = topology_.extend({source, destination, random}, hops, route_.data(), LinkLoads(idle_.data(), 0));
    } while (topology_.host_behind(route_[hops - 1]) != destination);
    for (std::uint32_t hop = 0; hop < hops; ++hop) out << (hop == 0 ? "" : " ") << route_[hop];
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

void write_routes(const RunConfig& config, std::uint32_t draws, const std::filesystem::path& path) {
  const Topology& topology = *config.network.topology;
  const JobConfig& job = config.jobs.front();
  const std::uint32_t rails = config.network.host.rails;
  const std::uint32_t times = topology.adaptive() ? draws : 1;
  Routes routes(topology);
  std::ofstream out = opened(path, "source,destination,way,links");
  for (std::uint32_t a = 0; a < job.nodes; ++a) {
    for (std::uint32_t b = 0; b < job.nodes; ++b) {
      if (a == b) continue;
      const std::uint32_t from = job.hosts.empty() ? a : job.hosts[a];
      const std::uint32_t to = job.hosts.empty() ? b : job.hosts[b];
      for (std::uint32_t way = 0; way < rails * times; ++way) {
        out << from << ',' << to << ',' << way << ',';
        const std::uint64_t pair = std::uint64_t{from} << 32 | to;
        routes.write(out, from * rails + way % rails, to * rails + way % rails, mixed(mixed(pair) + way / rails));
        out << '\n';
      }
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
  CLI::App app{"manynode-routes: the routes between the nodes of a run's first job"};
  std::string run_file;
  std::string output;
  std::uint32_t draws = 16;
  app.add_option("RUN.json", run_file, "the run, schema network-run/2")->required();
  app.add_option("--output", output, "directory for routes.csv and links.csv; made if need be")->required();
  app.add_option("--draws", draws, "routes of a pair where they depend on chance")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
    const RunConfig config = read_run_config(run_file);
    std::filesystem::create_directories(output);
    write_links(config.network, std::filesystem::path(output) / "links.csv");
    write_routes(config, draws, std::filesystem::path(output) / "routes.csv");
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
