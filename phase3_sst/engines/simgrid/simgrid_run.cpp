#include "simgrid_run.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <simgrid/version.h>
#include <smpi/smpi.h>

#include "rank.hpp"
#include "simulation.hpp"

namespace manynode::smpi_engine {

namespace {

namespace s4u = ::simgrid::s4u;

// Every factor of SimGrid's models for TCP over Ethernet is set to the run file's value, or off.
void configure(const network::HostConfig& host) {
  const auto set = [](const std::string& option) { s4u::Engine::set_config(option); };
  set("network/model:CM02");
  set("network/TCP-gamma:1e30");  // no window limits the rate
  set("network/crosstraffic:no");
  set("network/weight-S:0");
  // A picosecond, as in the engine fast.
  set("surf/precision:1e-12");
  set("maxmin/precision:1e-9");
  set("contexts/stack-size:256");  // KiB; a rank needs little
  set("smpi/simulate-computation:no");
  set("smpi/errors-are-fatal:no");  // a truncated message is reported by its rank
  // A message is eager up to the limit; SMPI compares with "less".
  const auto limit = std::min<std::uint64_t>(host.eager_limit_bytes, std::numeric_limits<int>::max() - 1);
  set("smpi/async-small-thresh:" + std::to_string(limit + 1));
  set("smpi/send-is-detached-thresh:" + std::to_string(limit + 1));
}

}  // namespace

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void run_simgrid(const std::vector<network::Program>& programs, const network::RunConfig& config, std::uint32_t replica,
                 const Outlet& outlet) {
  s4u::Engine engine("manynode-simgrid");
  configure(config.network.host);
  // The engine owns its zones.
  auto* machine = new Machine(config);
  SMPI_init();
  World world(programs, config, replica, *machine, outlet);
  world.start_ranks();
  s4u::Engine::on_deadlock_cb([&world] { world.stand_still(); });
  engine.run();
}

}  // namespace manynode::smpi_engine
