// The interface of a topology, and the registry in which a run file finds topologies by kind.
//
// Contract. A topology is a set of hosts (one per NIC), switches and directed links; a cable is two links. Hosts are
// 0 ... hosts() - 1, links 0 ... links() - 1, dense. Only the source host uses the first link of a route, and the last
// link carries traffic of the destination host only: one event of the engine handles NIC and host link. Consecutive
// links meet in a switch. Routes are computed, never stored. Objects are immutable: replicas and threads may share one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "link.hpp"

namespace manynode::network {

struct LinkDescription {
  std::string source;  // "host-5"; "leaf-0", "level2-7" in trees; "router-2-0-1" by its coordinates elsewhere
  std::string target;
};

// The ends of a route. `random` is drawn for each chunk (adaptive) from the run's seed; routes without random choice
// ignore it.
struct RouteRequest {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint64_t random{0};
};

class Topology {
 public:
  virtual ~Topology() = default;

  virtual std::string kind() const = 0;
  virtual std::uint32_t hosts() const = 0;
  virtual std::uint32_t switches() const = 0;
  virtual std::uint32_t links() const = 0;

  // No route has more links than this; at most 255.
  virtual std::uint32_t max_hops() const = 0;

  // Whether routes depend on load or chance. Each chunk then has its own route, and messages may overtake each other in
  // the network (the engine restores their order at the receiver).
  virtual bool adaptive() const { return false; }

  // Extends a route. `out` holds the `hops` links chosen so far (0 at the source) and has room for max_hops(). Appends
  // at least one link and returns the new number; the route is complete when its last link enters the destination (at
  // least 2 links in all). Topologies that are not adaptive() append the whole route when hops is 0, and read no load.
  // Adaptive ones may stop early: they are asked again when the head of the chunk has come to the switch behind the
  // last link, with the loads of that moment, and decide by loads of that switch's own links only.
  virtual std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                               const LinkLoads& loads) const = 0;

  // All routes that extend() may choose between two different hosts, whatever load and chance. Of parallel links
  // between the same two switches, one stands for all that it may choose. Adaptive topologies override this.
  virtual std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const;

  // For topologies that are not adaptive(): the number of links from one host to another, and the link at a place (0,
  // 1, ...) of their route. The engine asks hop by hop: with millions of messages, computing a link costs less than
  // fetching a stored route from memory. Override these if extend() does much more work.
  virtual std::uint32_t hops(std::uint32_t source, std::uint32_t destination) const;
  virtual LinkId link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                         std::uint32_t hops) const;

  // Whether routes between switches leave in directions; the direction in which the route from one host to another
  // leaves its first switch (0 within a switch). Nodes with several NICs may choose one by it.
  virtual bool has_directions() const { return false; }
  virtual std::uint32_t direction(std::uint32_t /*source*/, std::uint32_t /*destination*/) const { return 0; }

  // Parts without a link between them; a plane has the hosts / planes next hosts. There are routes within planes only.
  virtual std::uint32_t planes() const { return 1; }

  // Virtual channels of each link: enough to exclude cyclic waiting between links with finite buffers.
  virtual std::uint32_t virtual_channels() const { return 1; }

  // The channel of `link` for a chunk that has come on channel `channel` of the link `before`; on the first link it is
  // 0.
  virtual std::uint8_t virtual_channel(LinkId /*before*/, std::uint8_t /*channel*/, LinkId /*link*/) const { return 0; }

  // The host that `link` enters, at which a route is complete; kNoHost if it enters a switch.
  virtual std::uint32_t host_behind(LinkId link) const = 0;

  // Names of the classes, by index: "host-up" and "host-down" first. They are those of the section's link_classes().
  virtual std::vector<std::string> link_classes() const = 0;
  virtual std::uint8_t link_class(LinkId link) const = 0;

  virtual LinkDescription describe(LinkId link) const = 0;
};

// Makes a topology from the object `topology` of a run file: its member "kind" chooses, the others depend on the kind.
// Throws UserError naming the place (`place` is the key of the object) for an unknown kind or a wrong member.
std::shared_ptr<const Topology> make_topology(const nlohmann::json& topology, const std::string& place);

std::vector<std::string> topology_kinds();

using TopologyFactory = std::shared_ptr<const Topology> (*)(const nlohmann::json& topology, const std::string& place);

// Registers a topology before main; each topology's source file defines one at namespace scope.
struct TopologyRegistration {
  TopologyRegistration(const char* kind, TopologyFactory factory);
};

}  // namespace manynode::network
