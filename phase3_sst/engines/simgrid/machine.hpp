// The machine of a run file as a SimGrid platform: one SimGrid link for each directed link of the topology, one host
// for each NIC that a rank uses, and a network zone that asks the topology for a route whenever a message starts. There
// is no table of routes.
//
// Two settings adapt SimGrid's flow model from the Internet to a machine. First, concurrent flows share a link in
// inverse proportion to the latency of their routes (the round-trip bias of TCP). Here every route reports the same
// latency, which makes shares equal (max-min fair); SimGrid's latency factor restores the true latency. Second, SMPI
// adds an envelope of 16 bytes to each message. The bandwidth factor removes it, because the bandwidths and latencies
// of a run file are fitted to messages without it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include "run_config.hpp"

namespace manynode::smpi_engine {

// Bytes that SMPI adds to each message (smpi_request.cpp, "MPI enveloppe size").
inline constexpr double kEnvelopeBytes = 16;

// Added to the bytes of messages from NIC to NIC, of which SMPI knows nothing: they have neither envelope nor
// handshake. SMPI's own messages are shorter.
inline constexpr std::uint64_t kFromNicToNic = std::uint64_t{1} << 40;

// Routes between NICs. For an adaptive topology, all links count as idle, and each pair has its own random number:
// every message of a pair takes the same route, and pairs spread.
class Routes {
 public:
  explicit Routes(const network::Topology& topology);

  // Valid until the next call.
  std::span<const network::LinkId> between(std::uint32_t source, std::uint32_t destination);

 private:
  const network::Topology& topology_;
  std::vector<network::LinkUse> idle_;
  std::vector<network::LinkId> route_;
};

class Machine final : public ::simgrid::kernel::routing::NetZoneImpl {
 public:
  // Makes links and hosts. The engine is already configured; it owns this object, as it owns all zones.
  explicit Machine(const network::RunConfig& config);

  // The host of a NIC that a rank uses.
  ::simgrid::s4u::Host* host(std::uint32_t nic) const { return hosts_.at(nic); }
  std::uint32_t node_of_nic(std::uint32_t nic) const { return config_.host.node_of(nic); }
  Routes& routes() { return routes_; }
  double bandwidth_Bps(network::LinkId link) const { return links_[link]->get_bandwidth(); }

  // Time from the departure of the first byte to its arrival, one way.
  double latency_s(std::uint32_t source, std::uint32_t destination);

  // Takes a message from NIC to NIC; the actor waits until its last byte has come.
  void carry(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes);

  // Call this before sending each message above the eager limit.
  void announce(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes);

  void get_local_route(const ::simgrid::kernel::routing::NetPoint* source,
                       const ::simgrid::kernel::routing::NetPoint* destination, ::simgrid::kernel::routing::Route* into,
                       double* latency) override;

 private:
  using LinkPtr = ::simgrid::s4u::Link*;

  void make_links();
  void make_host(std::uint32_t nic);
  LinkPtr make_link(const std::string& name, double bandwidth_Bps, bool shared);
  // SMPI's rendezvous starts a long message when both sides are ready, but its request and reply take no time. This
  // returns their time from that moment on: the remaining way of the request, sent when the message was announced, plus
  // the reply. Among equal messages between two NICs, the first announced counts as the first to start. The receiver
  // adds the latency of the data (rank.cpp).
  double handshake_s(std::uint32_t source, std::uint32_t destination, double bytes_and_envelope);
  void set_factors();
  std::uint32_t nic_of(const ::simgrid::s4u::Host* host) const;

  const network::NetworkConfig& config_;
  Routes routes_;
  std::vector<LinkPtr> links_;          // [link of the topology]
  std::vector<double> link_latency_s_;  // [class of links]
  // By NIC; only where a NIC is slower than a link.
  std::unordered_map<std::uint32_t, LinkPtr> injection_;
  std::unordered_map<std::uint32_t, LinkPtr> ejection_;
  std::unordered_map<std::uint32_t, LinkPtr> within_node_;  // by node
  std::unordered_map<std::uint32_t, ::simgrid::s4u::Host*> hosts_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::deque<double>> announced_;  // times [s]
  std::vector<std::uint32_t> nics_;  // [id of a host's netpoint]
};

// The NIC of a rank: with several rails, the ranks of a node take them in turn.
std::uint32_t nic_of_rank(const network::RunConfig& config, const network::JobConfig& job, std::uint32_t rank);

}  // namespace manynode::smpi_engine
