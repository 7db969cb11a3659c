// The interface of a topology, and the registry in which a run file finds topologies by kind.
//
// Contract. A topology is a set of hosts (one per node), switches and directed links; a cable is two links. Hosts are
// 0 ... hosts() - 1, links 0 ... links() - 1, dense. Routes are computed, never stored, and depend on nothing but the
// two hosts. The first link of a route leaves the source and is used by that host alone; the last enters the
// destination and carries nothing for another host: the engine handles NIC and host link in one event because of this.
// Consecutive links meet in a switch. Objects are immutable, so that replicas and threads may share one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace manynode::fast {

using LinkId = std::uint32_t;

struct LinkDescription {
  std::string link_class;  // <lower end>-up or <lower end>-down in trees: "host-up", "leaf-down", "level2-up"
  std::string source;      // "host-5", "leaf-0", "level2-7"
  std::string target;
};

class Topology {
 public:
  virtual ~Topology() = default;

  virtual std::string kind() const = 0;
  virtual std::uint32_t hosts() const = 0;
  virtual std::uint32_t switches() const = 0;
  virtual std::uint32_t links() const = 0;

  // No route has more links than this.
  virtual std::uint32_t max_hops() const = 0;

  // Writes the links from `source` to another host `destination` in order to `out`, which has room for max_hops();
  // returns their number, at least 2.
  virtual std::uint32_t route(std::uint32_t source, std::uint32_t destination, LinkId* out) const = 0;

  virtual LinkDescription describe(LinkId link) const = 0;
};

// Makes a topology from the object `topology` of a run file: its member "kind" chooses, the others belong to the kind.
// Throws UserError naming the place (`place` is the key of the object) for an unknown kind or a wrong member.
std::shared_ptr<const Topology> make_topology(const nlohmann::json& topology, const std::string& place);

std::vector<std::string> topology_kinds();

using TopologyFactory = std::shared_ptr<const Topology> (*)(const nlohmann::json& topology, const std::string& place);

// Defined at namespace scope by each topology's source file: registers it before main.
struct TopologyRegistration {
  TopologyRegistration(const char* kind, TopologyFactory factory);
};

}  // namespace manynode::fast
