// The interface of a topology, and the registry in which a run file finds topologies by kind.
//
// Contract. A topology is a set of hosts (one per NIC), switches and directed links; a cable is two links. Hosts are
// 0 ... hosts() - 1, links 0 ... links() - 1, dense. The first link of a route leaves the source host and is used by
// that host alone; the last enters the destination host and carries nothing for another host: the engine handles NIC
// and host link in one event because of this. Consecutive links meet in a switch. Routes are computed, never stored.
// Objects are immutable, so that replicas and threads may share one.
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

// Whose route is computed. `random` is drawn anew for each chunk (adaptive) from the run's seed; routes that do not
// need chance ignore it.
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

  // Whether routes depend on load or chance. Then each chunk has a route of its own, and messages may overtake each
  // other in the network (the engine puts them in order again at the receiver).
  virtual bool adaptive() const { return false; }

  // Extends a route. `out` holds the `hops` links chosen so far (0 at the source) and has room for max_hops(). Appends
  // at least one link and returns the new number; the route is complete when its last link enters the destination (at
  // least 2 links in all). Topologies that are not adaptive() append the whole route when hops is 0, and read no load.
  // Adaptive ones may stop early: they are asked again when the head of the chunk has come to the switch behind the
  // last link, with the loads of that moment, and decide by loads of that switch's own links only.
  virtual std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                               const LinkLoads& loads) const = 0;

  // Of topologies that are not adaptive(): the number of links from one host to another, and the link at a place (0, 1,
  // ...) of their route. The engine asks hop by hop, because computing a link costs less than fetching a stored route
  // from memory once there are millions of messages; worth overriding where extend() does much more.
  virtual std::uint32_t hops(std::uint32_t source, std::uint32_t destination) const;
  virtual LinkId link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                         std::uint32_t hops) const;

  // Virtual channels of each link: as many as keep links with finite buffers from waiting for each other in a circle.
  virtual std::uint32_t virtual_channels() const { return 1; }

  // The channel of `link` for a chunk that has come on channel `channel` of the link `before`; on the first link it is
  // 0.
  virtual std::uint8_t virtual_channel(LinkId /*before*/, std::uint8_t /*channel*/, LinkId /*link*/) const { return 0; }

  // The host that `link` enters; kNoHost when it enters a switch. Tells the engine that a route is complete.
  virtual std::uint32_t host_behind(LinkId link) const = 0;

  // Names of the classes, by index: "host-up" and "host-down" first; then "leaf-up", "leaf-down", "level2-up" ... in
  // trees, "dim0-plus", "dim0-minus", "dim1-plus" ... in tori, "local", "global" in dragonflies.
  virtual std::vector<std::string> link_classes() const = 0;
  virtual std::uint8_t link_class(LinkId link) const = 0;

  virtual LinkDescription describe(LinkId link) const = 0;

  // Links (of one direction) that must be cut to part the low half of the hosts, by their numbers, from the high half:
  // the least cut, which is the most that traffic between the halves can use at a time (so never more than the links of
  // half of the hosts). Bisection bandwidth is this times the bandwidth of a link; traffic comes near it when it uses
  // all paths alike (every low host sends to every high host), single permutations may not.
  virtual std::uint64_t bisection_links() const = 0;
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

}  // namespace manynode::network
