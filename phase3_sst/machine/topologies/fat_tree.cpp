#include "topologies/fat_tree.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"
#include "topologies/chance.hpp"
#include "topologies/limits.hpp"

namespace manynode::network {

namespace {

std::shared_ptr<const Topology> make_fat_tree(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  const auto children = object.integers("children", 1, kMostParts);
  const auto parents = object.integers("parents", 1, kMostParts);
  const auto parallel = object.integers("parallel_links", 1, kMostParts);
  const auto planes = object.has("planes") ? object.integer("planes", 1, kMostParts) : 1;
  auto routing = FatTree::Routing::DModK;
  if (object.has("routing")) {
    const std::string name = object.text("routing");
    if (name != "d-mod-k" && name != "adaptive") object.refuse("routing", "d-mod-k, adaptive");
    if (name == "adaptive") routing = FatTree::Routing::Adaptive;
  }
  object.finish();
  return std::make_shared<FatTree>(children, parents, parallel, place, routing, planes);
}

const TopologyRegistration registration("fat-tree", make_fat_tree);

}  // namespace

FatTree::FatTree(const std::vector<std::int64_t>& children, const std::vector<std::int64_t>& parents,
                 const std::vector<std::int64_t>& parallel_links, const std::string& place, Routing routing,
                 std::int64_t planes)
    : routing_(routing) {
  if (children.empty() || parents.size() != children.size() || parallel_links.size() != children.size()) {
    throw UserError("the lists of a fat-tree differ in length", place,
                    "children: " + std::to_string(children.size()) + ", parents: " + std::to_string(parents.size()) +
                        ", parallel_links: " + std::to_string(parallel_links.size()),
                    "three lists with one entry per level", "give each list one entry per level");
  }
  check_hops(2 * children.size(), kind(), place);
  const auto fit = [&](std::uint64_t number) { return fitting(number, kind(), place); };
  for (const auto count : children) hosts_ = fit(std::uint64_t{hosts_} * static_cast<std::uint64_t>(count));
  // A plane is a digit above all levels.
  planes_ = fit(static_cast<std::uint64_t>(planes));
  hosts_ = fit(std::uint64_t{hosts_} * planes_);

  std::uint32_t below_children = 1;
  std::uint32_t below_parents = 1;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const auto m = static_cast<std::uint32_t>(children[i]);
    const auto w = static_cast<std::uint32_t>(parents[i]);
    const auto p = static_cast<std::uint32_t>(parallel_links[i]);
    const std::uint32_t lower_nodes = fit(std::uint64_t{below_parents} * (hosts_ / below_children));
    const std::uint32_t ports = fit(std::uint64_t{w} * p);
    const std::uint32_t cables = fit(std::uint64_t{lower_nodes} * ports);
    const LinkId up = links_;
    const LinkId down = fit(std::uint64_t{up} + cables);
    links_ = fit(std::uint64_t{down} + cables);
    levels_.push_back({Divisor(w), Divisor(ports), Divisor(below_children), Divisor(below_parents),
                       Divisor(below_children * m), p, m, up, down});
    below_children *= m;
    below_parents = fit(std::uint64_t{below_parents} * w);
    switches_ = fit(std::uint64_t{switches_} + std::uint64_t{below_parents} * (hosts_ / below_children));
  }
}

void FatTree::check_plane(std::uint32_t source, std::uint32_t destination) const {
  const std::uint32_t hosts = hosts_ / planes_;
  if (planes_ > 1 && source / hosts != destination / hosts) {
    throw std::logic_error("a route between the planes of a fat-tree");
  }
}

std::uint32_t FatTree::extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                              const LinkLoads& loads) const {
  check_plane(request.source, request.destination);
  if (routing_ == Routing::Adaptive) return next_links(request, hops, out, loads);
  return whole_route(request, out, [&](std::size_t level) { return port_to(levels_[level], request.destination); });
}

template <class Port>
std::uint32_t FatTree::whole_route(const RouteRequest& request, LinkId* out, Port port_at) const {
  const std::uint32_t source = request.source;
  const std::uint32_t destination = request.destination;
  // The node of level l on the way has the index low + W_l * (host / M_l): `low` are its digits up to l.
  std::uint32_t low = 0;
  std::uint32_t hops = 0;
  std::size_t top = 0;
  bool common = false;
  do {
    const Level& level = levels_[top];
    const std::uint32_t lower = low + level.below_parents.value() * level.below_children.quotient(source);
    const std::uint32_t port = port_at(top);
    const std::uint32_t k = level.parents.quotient(port);
    const std::uint32_t parent = port - k * level.parents.value();
    out[hops++] = level.up + (lower * level.parents.value() + parent) * level.parallel + k;
    low += level.below_parents.value() * parent;
    common = level.hosts_under.quotient(source) == level.hosts_under.quotient(destination);
    ++top;
  } while (!common);

  while (top-- > 0) {
    const Level& level = levels_[top];
    const std::uint32_t parent = level.below_parents.quotient(low);
    low -= parent * level.below_parents.value();
    const std::uint32_t lower = low + level.below_parents.value() * level.below_children.quotient(destination);
    out[hops++] =
        level.down + (lower * level.parents.value() + parent) * level.parallel + level.parents.quotient(port_at(top));
  }
  return hops;
}

std::vector<std::vector<LinkId>> FatTree::possible_routes(std::uint32_t source, std::uint32_t destination) const {
  if (!adaptive()) return Topology::possible_routes(source, destination);
  // One parent at each level below the top one; the first of the parallel links, except at the hosts.
  const std::size_t levels = hops(source, destination) / 2;
  std::vector<std::uint32_t> ports(levels, 0);
  ports[0] = port_to(levels_[0], destination);
  std::vector<std::vector<LinkId>> routes;
  for (std::size_t level = 0; level < levels;) {
    std::vector<LinkId> route(2 * levels);
    whole_route({source, destination}, route.data(), [&](std::size_t at) { return ports[at]; });
    routes.push_back(std::move(route));
    for (level = 1; level < levels && ++ports[level] == levels_[level].parents.value(); ++level) ports[level] = 0;
  }
  return routes;
}

std::uint32_t FatTree::hops(std::uint32_t source, std::uint32_t destination) const {
  check_plane(source, destination);
  std::uint32_t top = 0;
  while (levels_[top].hosts_under.quotient(source) != levels_[top].hosts_under.quotient(destination)) ++top;
  return 2 * (top + 1);
}

LinkId FatTree::link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                        std::uint32_t hops) const {
  const bool up = 2 * place < hops;
  const std::uint32_t lower_level = up ? place : hops - 1 - place;
  std::uint32_t low = 0;
  for (std::uint32_t below = 0; below < lower_level; ++below) {
    const Level& level = levels_[below];
    const std::uint32_t port = port_to(level, destination);
    low += level.below_parents.value() * level.parents.remainder(port);
  }
  const Level& level = levels_[lower_level];
  const std::uint32_t lower =
      low + level.below_parents.value() * level.below_children.quotient(up ? source : destination);
  const std::uint32_t port = port_to(level, destination);
  const std::uint32_t k = level.parents.quotient(port);
  const std::uint32_t parent = port - k * level.parents.value();
  return (up ? level.up : level.down) + (lower * level.parents.value() + parent) * level.parallel + k;
}

std::uint32_t FatTree::next_links(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                                  const LinkLoads& loads) const {
  const std::uint32_t source = request.source;
  const std::uint32_t destination = request.destination;
  const Level& host_level = levels_.front();
  const std::uint32_t host_port = host_level.ports.remainder(destination);
  const std::uint32_t host_cable = host_level.parents.quotient(host_port);

  // The chunk's position: the node of level `height` with the digits `low`, above the source or above the destination.
  std::size_t height = 0;
  std::uint32_t low = 0;
  bool downward = false;
  bool here = true;  // the head of the chunk is at this node, which knows its own loads
  if (hops == 0) {
    low = host_port - host_cable * host_level.parents.value();
    out[hops++] = host_level.up + source * host_level.ports.value() + low * host_level.parallel + host_cable;
    height = 1;
    here = false;
  } else {
    const LinkId last = out[hops - 1];
    const std::size_t below = lower_level(last);
    const Level& level = levels_[below];
    downward = last >= level.down;
    const std::uint32_t cable = (last - (downward ? level.down : level.up)) / level.parallel;
    const std::uint32_t lower = level.parents.quotient(cable);
    low = level.below_parents.remainder(lower);
    if (!downward) low += level.below_parents.value() * (cable - lower * level.parents.value());
    height = downward ? below : below + 1;
  }

  const Divisor& under = levels_[height - 1].hosts_under;
  if (!downward && under.quotient(source) != under.quotient(destination)) {
    if (!here) return hops;
    const Level& level = levels_[height];
    const std::uint32_t lower = low + level.below_parents.value() * level.below_children.quotient(source);
    out[hops] = least_loaded(level.up + lower * level.ports.value(), level.ports.value(), request.random, hops, loads);
    return hops + 1;
  }
  for (; height > 0; --height, here = false) {
    const Level& level = levels_[height - 1];
    const std::uint32_t parent = level.below_parents.quotient(low);
    low -= parent * level.below_parents.value();
    const std::uint32_t lower = low + level.below_parents.value() * level.below_children.quotient(destination);
    LinkId link = level.down + (lower * level.parents.value() + parent) * level.parallel;
    if (height == 1) {
      link += host_cable;
    } else if (level.parallel > 1) {
      if (!here) break;
      link = least_loaded(link, level.parallel, request.random, hops, loads);
    }
    out[hops++] = link;
  }
  return hops;
}

std::size_t FatTree::lower_level(LinkId link) const {
  std::size_t level = levels_.size() - 1;
  while (link < levels_[level].up) --level;
  return level;
}

std::string FatTree::node_name(std::size_t level, std::uint32_t index) const {
  if (level == 0) return "host-" + std::to_string(index);
  if (level == 1) return "leaf-" + std::to_string(index);
  return "level" + std::to_string(level) + "-" + std::to_string(index);
}

LinkDescription FatTree::describe(LinkId link) const {
  const std::size_t below = lower_level(link);
  const Level& level = levels_[below];
  const bool up = link < level.down;
  const std::uint32_t cable = (link - (up ? level.up : level.down)) / level.parallel;
  const std::uint32_t lower = level.parents.quotient(cable);
  const std::uint32_t parent = level.parents.remainder(cable);
  // The parent keeps the digits up to the lower level, gets its own next digit, and keeps the digits above.
  const std::uint32_t low = level.below_parents.remainder(lower) + level.below_parents.value() * parent;
  const std::uint32_t above = level.below_parents.quotient(lower) / level.children;
  const std::uint32_t upper = low + level.below_parents.value() * level.parents.value() * above;

  const std::string lower_name = node_name(below, lower);
  const std::string upper_name = node_name(below + 1, upper);
  if (up) return {lower_name, upper_name};
  return {upper_name, lower_name};
}

std::uint32_t FatTree::host_behind(LinkId link) const {
  const Level& level = levels_.front();
  if (link < level.down || link - level.down >= level.down - level.up) return kNoHost;
  return level.ports.quotient(link - level.down);
}

std::vector<std::string> FatTree::link_classes() const {
  std::vector<std::string> names;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::string stem = level == 0 ? "host" : level == 1 ? "leaf" : "level" + std::to_string(level);
    names.push_back(stem + "-up");
    names.push_back(stem + "-down");
  }
  return names;
}

std::uint8_t FatTree::link_class(LinkId link) const {
  const std::size_t level = lower_level(link);
  return static_cast<std::uint8_t>(2 * level + (link < levels_[level].down ? 0 : 1));
}

}  // namespace manynode::network
