#include "topology.hpp"

#include <array>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"

namespace manynode::network {

namespace {

// A function-local static, because registrations in other files run before main in unknown order.
std::map<std::string, TopologyFactory>& registry() {
  static std::map<std::string, TopologyFactory> kinds;
  return kinds;
}

}  // namespace

std::uint32_t Topology::hops(std::uint32_t source, std::uint32_t destination) const {
  std::array<LinkId, 256> route;
  return extend({source, destination, 0}, 0, route.data(), LinkLoads(nullptr, 0));
}

std::vector<std::vector<LinkId>> Topology::possible_routes(std::uint32_t source, std::uint32_t destination) const {
  if (adaptive()) throw std::logic_error("the " + kind() + " does not know the routes that it may choose");
  std::vector<LinkId> route(max_hops());
  route.resize(extend({source, destination, 0}, 0, route.data(), LinkLoads(nullptr, 0)));
  return {route};
}

LinkId Topology::link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                         std::uint32_t /*hops*/) const {
  std::array<LinkId, 256> route;
  extend({source, destination, 0}, 0, route.data(), LinkLoads(nullptr, 0));
  return route[place];
}

TopologyRegistration::TopologyRegistration(const char* kind, TopologyFactory factory) {
  registry().emplace(kind, factory);
}

std::vector<std::string> topology_kinds() {
  std::vector<std::string> kinds;
  for (const auto& [kind, factory] : registry()) kinds.push_back(kind);
  return kinds;
}

std::shared_ptr<const Topology> make_topology(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  const std::string kind = object.text("kind");
  const auto found = registry().find(kind);
  if (found != registry().end()) return found->second(topology, place);
  std::string allowed;
  for (const auto& name : topology_kinds()) allowed += (allowed.empty() ? "" : ", ") + name;
  throw UserError("there is no topology of this kind", object.place_of("kind"), kind, allowed,
                  "choose one of the allowed kinds");
}

}  // namespace manynode::network
