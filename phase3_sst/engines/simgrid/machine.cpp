#include "machine.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>

namespace manynode::smpi_engine {

namespace {

namespace s4u = ::simgrid::s4u;

// The reported latency of every route; any positive number works (see the header).
constexpr double kReportedLatency_s = 1;

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

Routes::Routes(const network::Topology& topology)
    : topology_(topology), idle_(topology.adaptive() ? topology.links() : 0), route_(topology.max_hops()) {}

std::span<const network::LinkId> Routes::between(std::uint32_t source, std::uint32_t destination) {
  const network::RouteRequest request{source, destination, mixed(std::uint64_t{source} << 32 | destination)};
  std::uint32_t hops = 0;
  do {
    hops = topology_.extend(request, hops, route_.data(), network::LinkLoads(idle_.data(), 0));
  } while (topology_.host_behind(route_[hops - 1]) != destination);
  return {route_.data(), hops};
}

std::uint32_t nic_of_rank(const network::RunConfig& config, const network::JobConfig& job, std::uint32_t rank) {
  const network::HostConfig& host = config.network.host;
  return host.nic(job.node_of(rank), job.number_on_node(rank) % host.rails);
}

Machine::Machine(const network::RunConfig& config)
    : NetZoneImpl("machine"), config_(config.network), routes_(*config.network.topology) {
  set_parent(nullptr);
  make_links();
  for (const auto& job : config.jobs) {
    for (std::uint32_t rank = 0; rank < job.ranks(); ++rank) make_host(nic_of_rank(config, job, rank));
  }
  set_factors();
  seal();
}

Machine::LinkPtr Machine::make_link(const std::string& name, double bandwidth_Bps, bool shared) {
  LinkPtr link = create_link(name, std::vector<double>{bandwidth_Bps});
  if (!shared) link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
  return link;
}

void Machine::make_links() {
  const network::Topology& topology = *config_.topology;
  std::vector<double> bandwidth_Bps;
  for (const auto& name : topology.link_classes()) {
    bandwidth_Bps.push_back(config_.link_of_class(name).bandwidth_Bps);
    link_latency_s_.push_back(config_.link_of_class(name).latency_s);
  }
  for (network::LinkId link = 0; link < topology.links(); ++link) {
    links_.push_back(
        make_link("link-" + std::to_string(link), bandwidth_Bps[topology.link_class(link)], config_.contention));
  }
}

void Machine::make_host(std::uint32_t nic) {
  if (hosts_.contains(nic)) return;
  // The speed of the processor is not used: ranks compute for a given time.
  s4u::Host* host = create_host("nic-" + std::to_string(nic), std::vector<double>{1e9});
  hosts_[nic] = host;
  const std::size_t id = host->get_netpoint()->id();
  if (nics_.size() <= id) nics_.resize(id + 1);
  nics_[id] = nic;

  // A NIC as fast as the fastest link never limits a message.
  const double bandwidth_Bps = config_.host.nic_bandwidth_Bps;
  double fastest_Bps = 0;
  for (const auto& name : config_.topology->link_classes()) {
    fastest_Bps = std::max(fastest_Bps, config_.link_of_class(name).bandwidth_Bps);
  }
  if (bandwidth_Bps < fastest_Bps) {
    injection_[nic] = make_link("injection-" + std::to_string(nic), bandwidth_Bps, config_.contention);
    ejection_[nic] = make_link("ejection-" + std::to_string(nic), bandwidth_Bps, config_.contention);
  }
  // Pairs of ranks on a node do not slow each other down.
  const std::uint32_t node = node_of_nic(nic);
  if (!within_node_.contains(node)) {
    within_node_[node] = make_link("node-" + std::to_string(node), config_.intranode.bandwidth_Bps, false);
  }
}

std::uint32_t Machine::nic_of(const s4u::Host* host) const { return nics_[host->get_netpoint()->id()]; }

double Machine::latency_s(std::uint32_t source, std::uint32_t destination) {
  if (node_of_nic(source) == node_of_nic(destination)) return config_.intranode.latency_s;
  const auto route = routes_.between(source, destination);
  double latency_s = 2 * config_.host.nic_latency_s + static_cast<double>(route.size() - 1) * config_.switch_latency_s;
  for (const auto link : route) latency_s += link_latency_s_[config_.topology->link_class(link)];
  return latency_s;
}

void Machine::carry(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
  s4u::Comm::sendto(host(source), host(destination), kFromNicToNic + bytes);
}

void Machine::announce(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
  announced_[{source, destination, bytes}].push_back(s4u::Engine::get_clock());
}

double Machine::handshake_s(std::uint32_t source, std::uint32_t destination, double bytes_and_envelope) {
  const auto bytes = static_cast<std::uint64_t>(std::llround(bytes_and_envelope - kEnvelopeBytes));
  const auto entry = announced_.find({source, destination, bytes});
  const double request_sent_s = entry->second.front();
  entry->second.pop_front();
  if (entry->second.empty()) announced_.erase(entry);
  const double request_comes_s = request_sent_s + latency_s(source, destination);
  return std::max(0.0, request_comes_s - s4u::Engine::get_clock()) + latency_s(destination, source);
}

void Machine::set_factors() {
  auto* model = get_iface()->get_network_model();
  const double eager_bytes = static_cast<double>(config_.host.eager_limit_bytes) + kEnvelopeBytes;
  model->set_lat_factor_cb([this, eager_bytes](double bytes, const s4u::Host* source, const s4u::Host* destination,
                                               const auto&, const auto&) {
    const std::uint32_t from = nic_of(source);
    const std::uint32_t to = nic_of(destination);
    if (bytes >= kFromNicToNic) return latency_s(from, to) / kReportedLatency_s;
    return (bytes > eager_bytes ? handshake_s(from, to, bytes) : latency_s(from, to)) / kReportedLatency_s;
  });
  model->set_bw_factor_cb([](double bytes, const s4u::Host*, const s4u::Host*, const auto&, const auto&) {
    const double beside = bytes >= kFromNicToNic ? static_cast<double>(kFromNicToNic) : kEnvelopeBytes;
    // An empty message still has an envelope, which is a thousand times faster than one byte.
    return bytes / std::max(bytes - beside, 1e-3);
  });
}

void Machine::get_local_route(const ::simgrid::kernel::routing::NetPoint* source,
                              const ::simgrid::kernel::routing::NetPoint* destination,
                              ::simgrid::kernel::routing::Route* into, double* latency) {
  if (latency != nullptr) *latency += kReportedLatency_s;
  const std::uint32_t from = nics_[source->id()];
  const std::uint32_t to = nics_[destination->id()];
  auto& links = into->link_list_;
  if (node_of_nic(from) == node_of_nic(to)) {
    links.push_back(within_node_.at(node_of_nic(from))->get_impl());
    return;
  }
  if (const auto nic = injection_.find(from); nic != injection_.end()) links.push_back(nic->second->get_impl());
  for (const auto link : routes_.between(from, to)) links.push_back(links_[link]->get_impl());
  if (const auto nic = ejection_.find(to); nic != ejection_.end()) links.push_back(nic->second->get_impl());
}

}  // namespace manynode::smpi_engine
