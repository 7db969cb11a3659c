#include "topologies/dragonfly.hpp"

#include <algorithm>
#include <utility>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"
#include "topologies/chance.hpp"
#include "topologies/limits.hpp"

namespace manynode::network {

namespace {

// The uses of a chunk's random number; each use draws independently. Local links add the number of the hop.
enum Use : std::uint32_t { kGroup, kRouter, kFirstCable, kOnwardCable, kGatewayPort, kLocal };

std::shared_ptr<const Topology> make_dragonfly(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  Dragonfly::Shape shape{};
  shape.groups = object.integer("groups", 1, kMostParts);
  shape.routers_per_group = object.integer("routers_per_group", 1, kMostParts);
  shape.hosts_per_router = object.integer("hosts_per_router", 1, kMostParts);
  shape.local_links = object.has("local_links") ? object.integer("local_links", 1, kMostParts) : 1;
  shape.global_links = object.integer("global_links", 0, kMostParts);
  auto routing = Dragonfly::Routing::Minimal;
  if (object.has("routing")) {
    const std::string name = object.text("routing");
    if (name == "valiant") {
      routing = Dragonfly::Routing::Valiant;
    } else if (name == "ugal") {
      routing = Dragonfly::Routing::Ugal;
    } else if (name == "minimal-by-source") {
      routing = Dragonfly::Routing::MinimalBySource;
    } else if (name != "minimal") {
      object.refuse("routing", "minimal, minimal-by-source, valiant, ugal");
    }
  }
  const double bias = object.has("ugal_bias") ? object.seconds("ugal_bias") : Dragonfly::kDefaultBias;
  object.finish();
  return std::make_shared<Dragonfly>(shape, routing, bias, place);
}

const TopologyRegistration registration("dragonfly", make_dragonfly);

}  // namespace

// A route that grows link by link, with its current position.
class Dragonfly::Path {
 public:
  Path(const Dragonfly& machine, LinkId* out, std::uint32_t hops, Place at)
      : machine_(machine), out_(out), hops_(hops), at_(at) {}

  Place at() const { return at_; }
  std::uint32_t hops() const { return hops_; }

  void append(LinkId link) { out_[hops_++] = link; }

  // To a router of the same group over cable `k` of the two; nothing if the path is already there.
  void to_router(std::uint32_t router, std::uint32_t k) {
    if (router == at_.router) return;
    append(machine_.first_local(at_.group, at_.router, router) + k);
    at_.router = router;
  }

  // The same over a given link.
  void along(LinkId link, std::uint32_t router) {
    append(link);
    at_.router = router;
  }

  // Over a global port of the current router.
  void over(std::uint32_t port) {
    append(machine_.global(at_.group, port));
    const auto end = machine_.cables_.other_end(at_.group, port);
    at_ = {end.group, machine_.router_of_port(end.port)};
  }

  void to_host(std::uint32_t host) { append(machine_.hosts_ + host); }

  // The cable of a local hop from here, drawn.
  std::uint32_t drawn_cable(std::uint64_t random) const {
    return draw(random, kLocal + hops_, machine_.local_links_.value());
  }

 private:
  const Dragonfly& machine_;
  LinkId* out_;
  std::uint32_t hops_;
  Place at_;
};

Dragonfly::Dragonfly(const Shape& shape, Routing routing, double ugal_bias_s, const std::string& place)
    : routing_(routing), bias_(to_picoseconds(ugal_bias_s)) {
  const auto fit = [&](std::uint64_t number) { return fitting(number, kind(), place); };
  groups_ = fit(static_cast<std::uint64_t>(shape.groups));
  routers_ = fit(static_cast<std::uint64_t>(shape.routers_per_group));
  const std::uint32_t local_links = fit(static_cast<std::uint64_t>(shape.local_links));
  const std::uint32_t global_links = fit(static_cast<std::uint64_t>(shape.global_links));
  const std::uint32_t ports = fit(std::uint64_t{routers_} * global_links);
  if (groups_ - 1 > ports) {
    throw UserError("the groups of the dragonfly cannot all be joined", place + ".global_links",
                    std::to_string(routers_) + " routers with " + std::to_string(global_links) +
                        " global links in each of " + std::to_string(groups_) + " groups",
                    "at least " + std::to_string((groups_ - 2) / routers_ + 1) + " global links per router",
                    "raise global_links or routers_per_group, or lower groups");
  }
  routers_per_group_ = Divisor(routers_);
  hosts_per_router_ = Divisor(fit(static_cast<std::uint64_t>(shape.hosts_per_router)));
  local_links_ = Divisor(local_links);
  global_links_ = Divisor(std::max(global_links, 1u));
  cables_ = GlobalCables(groups_, ports);

  switches_ = fit(std::uint64_t{groups_} * routers_);
  hosts_ = fit(std::uint64_t{switches_} * hosts_per_router_.value());
  local_ = fit(2 * std::uint64_t{hosts_});
  const std::uint32_t local_ports = fit(std::uint64_t{routers_ - 1} * local_links);
  global_ = fit(local_ + std::uint64_t{switches_} * local_ports);
  links_ = fit(global_ + std::uint64_t{groups_} * cables_.ports());
}

Dragonfly::Ends Dragonfly::ends(const RouteRequest& request) const {
  const std::uint32_t from = hosts_per_router_.quotient(request.source);
  const std::uint32_t to = hosts_per_router_.quotient(request.destination);
  const std::uint32_t from_group = routers_per_group_.quotient(from);
  const std::uint32_t to_group = routers_per_group_.quotient(to);
  return {{from_group, from - from_group * routers_},
          {to_group, to - to_group * routers_},
          request.destination - to_group * routers_ * hosts_per_router_.value()};
}

LinkId Dragonfly::first_local(std::uint32_t group, std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t other = to < from ? to : to - 1;
  return local_ + ((group * routers_ + from) * (routers_ - 1) + other) * local_links_.value();
}

std::uint32_t Dragonfly::extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                                const LinkLoads& loads) const {
  if (routing_ == Routing::Minimal) return minimal(request, out);
  if (routing_ == Routing::MinimalBySource) return minimal_by_source(request, out);
  if (routing_ == Routing::Valiant) return valiant(request, out);
  return ugal(request, hops, out, loads);
}

std::uint32_t Dragonfly::minimal(const RouteRequest& request, LinkId* out) const {
  const Ends way = ends(request);
  Path path(*this, out, 0, way.source);
  path.append(request.source);
  const std::uint32_t turned = way.host + way.source.router;
  if (way.source.group == way.destination.group) {
    path.to_router(way.destination.router, local_links_.remainder(turned));
  } else {
    // Destinations that take the same cable differ in the quotient, which chooses among the links to its router.
    const Divisor& counter = cables_.counter(way.source.group, way.destination.group);
    const std::uint32_t round = counter.quotient(turned);
    const std::uint32_t port = cables_.port(way.source.group, way.destination.group, turned - round * counter.value());
    path.to_router(router_of_port(port), local_links_.remainder(round));
    path.over(port);
    path.to_router(way.destination.router, local_links_.remainder(way.host));
  }
  path.to_host(request.destination);
  return path.hops();
}

std::uint32_t Dragonfly::minimal_by_source(const RouteRequest& request, LinkId* out) const {
  const Ends way = ends(request);
  Path path(*this, out, 0, way.source);
  path.append(request.source);
  const std::uint32_t local = local_links_.remainder(request.source + request.destination);
  if (way.source.group != way.destination.group) {
    const std::uint32_t cable = cables_.every().remainder(request.source);
    const std::uint32_t port = cables_.port(way.source.group, way.destination.group, cable);
    path.to_router(router_of_port(port), local);
    path.over(port);
  }
  path.to_router(way.destination.router, local);
  path.to_host(request.destination);
  return path.hops();
}

std::uint32_t Dragonfly::drawn_port(const RouteRequest& request, std::uint32_t use, std::uint32_t from,
                                    std::uint32_t to) const {
  return cables_.port(from, to, draw(request.random, use, cables_.count(from, to)));
}

// From a router of the destination's or the intermediate group to the end.
void Dragonfly::finish(const RouteRequest& request, const Ends& way, Path& path) const {
  if (path.at().group != way.destination.group) {
    const std::uint32_t port = drawn_port(request, kOnwardCable, path.at().group, way.destination.group);
    path.to_router(router_of_port(port), path.drawn_cable(request.random));
    path.over(port);
  }
  path.to_router(way.destination.router, path.drawn_cable(request.random));
  path.to_host(request.destination);
}

std::uint32_t Dragonfly::valiant(const RouteRequest& request, LinkId* out) const {
  const Ends way = ends(request);
  Path path(*this, out, 0, way.source);
  path.append(request.source);
  const auto [group, router] = way.source;
  if (group != way.destination.group) {
    const std::uint32_t over = groups_ < 3
                                   ? way.destination.group
                                   : third(draw(request.random, kGroup, groups_ - 2), group, way.destination.group);
    const std::uint32_t port = drawn_port(request, kFirstCable, group, over);
    path.to_router(router_of_port(port), path.drawn_cable(request.random));
    path.over(port);
  } else if (router != way.destination.router && routers_ > 2) {
    const std::uint32_t over = third(draw(request.random, kRouter, routers_ - 2), router, way.destination.router);
    path.to_router(over, path.drawn_cable(request.random));
  }
  finish(request, way, path);
  return path.hops();
}

std::uint32_t Dragonfly::ugal(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                              const LinkLoads& loads) const {
  const Ends way = ends(request);
  Path path(*this, out, hops, way.source);
  if (hops == 0) {
    path.append(request.source);
    const bool together = way.source.group == way.destination.group && way.source.router == way.destination.router;
    if (together) path.to_host(request.destination);
  } else if (way.source.group == way.destination.group) {
    ugal_within_group(request, way, loads, path);
  } else if (hops == 1) {
    ugal_at_source(request, way, loads, path);
  } else {
    // Only a minimal route that began with a local link is unfinished; the link determines the router.
    const std::uint32_t other = (out[1] - local_) / local_links_.value() % (routers_ - 1);
    Path onward(*this, out, hops, {way.source.group, other < way.source.router ? other : other + 1});
    ugal_at_gateway(request, way, loads, onward);
    return onward.hops();
  }
  return path.hops();
}

void Dragonfly::ugal_within_group(const RouteRequest& request, const Ends& way, const LinkLoads& loads,
                                  Path& path) const {
  const auto [group, router] = way.source;
  const auto best = [&](std::uint32_t to) {
    return least_loaded(first_local(group, router, to), local_links_.value(), request.random, kLocal, loads);
  };
  const LinkId direct = best(way.destination.router);
  std::uint32_t next = way.destination.router;
  LinkId link = direct;
  if (routers_ > 2) {
    const std::uint32_t over = third(draw(request.random, kRouter, routers_ - 2), router, way.destination.router);
    const LinkId detour = best(over);
    if (loads.backlog(direct) > 2 * loads.backlog(detour) + bias_) {
      next = over;
      link = detour;
    }
  }
  path.along(link, next);
  finish(request, way, path);
}

// The first link of a route over a global port of the group: the global one, or the least loaded local one.
LinkId Dragonfly::first_link(Place at, std::uint32_t port, const RouteRequest& request, const LinkLoads& loads) const {
  const std::uint32_t gateway = router_of_port(port);
  if (gateway == at.router) return global(at.group, port);
  return least_loaded(first_local(at.group, at.router, gateway), local_links_.value(), request.random, kLocal, loads);
}

// Links between routers that such a route still has, with finish() after the global one.
std::uint32_t Dragonfly::links_to_go(Place at, std::uint32_t port, const RouteRequest& request, const Ends& way) const {
  std::uint32_t links = router_of_port(port) == at.router ? 1 : 2;
  auto end = cables_.other_end(at.group, port);
  if (end.group != way.destination.group) {
    const std::uint32_t onward = drawn_port(request, kOnwardCable, end.group, way.destination.group);
    links += router_of_port(onward) == router_of_port(end.port) ? 1 : 2;
    end = cables_.other_end(end.group, onward);
  }
  return links + (router_of_port(end.port) == way.destination.router ? 0 : 1);
}

void Dragonfly::ugal_at_source(const RouteRequest& request, const Ends& way, const LinkLoads& loads, Path& path) const {
  const auto [group, router] = way.source;
  std::uint32_t port = drawn_port(request, kFirstCable, group, way.destination.group);
  LinkId link = first_link(way.source, port, request, loads);
  bool is_minimal = true;
  if (groups_ > 2) {
    const std::uint32_t over = third(draw(request.random, kGroup, groups_ - 2), group, way.destination.group);
    const std::uint32_t detour = drawn_port(request, kFirstCable, group, over);
    const LinkId detour_link = first_link(way.source, detour, request, loads);
    if (loads.backlog(link) * links_to_go(way.source, port, request, way) >
        loads.backlog(detour_link) * links_to_go(way.source, detour, request, way) + bias_) {
      port = detour;
      link = detour_link;
      is_minimal = false;
    }
  }
  const std::uint32_t gateway = router_of_port(port);
  if (gateway != router) {
    path.along(link, gateway);
    if (is_minimal) return;
  }
  path.over(port);
  finish(request, way, path);
}

void Dragonfly::ugal_at_gateway(const RouteRequest& request, const Ends& way, const LinkLoads& loads,
                                Path& path) const {
  const Place at = path.at();
  const std::uint32_t first = at.router * global_links_.value();
  const std::uint32_t count = std::min(global_links_.value(), cables_.ports() - first);
  const std::uint32_t start = draw(request.random, kGatewayPort, count);
  constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t direct = kNone;
  std::uint32_t detour = kNone;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t port = first + (start + i < count ? start + i : start + i - count);
    if (cables_.other_end(at.group, port).group != way.destination.group) {
      if (detour == kNone) detour = port;
    } else if (direct == kNone || loads.backlog(global(at.group, port)) < loads.backlog(global(at.group, direct))) {
      direct = port;
    }
  }
  const auto cost = [&](std::uint32_t port) {
    return loads.backlog(global(at.group, port)) * links_to_go(at, port, request, way);
  };
  path.over(detour != kNone && cost(direct) > cost(detour) + bias_ ? detour : direct);
  finish(request, way, path);
}

std::vector<std::vector<LinkId>> Dragonfly::possible_routes(std::uint32_t source, std::uint32_t destination) const {
  if (!adaptive()) return Topology::possible_routes(source, destination);
  const RouteRequest request{source, destination};
  const Ends way = ends(request);
  std::vector<std::vector<LinkId>> routes;
  const auto add = [&](const auto& middle) {
    std::vector<LinkId> route(max_hops());
    Path path(*this, route.data(), 0, way.source);
    path.append(source);
    middle(path);
    path.to_router(way.destination.router, 0);
    path.to_host(destination);
    route.resize(path.hops());
    routes.push_back(std::move(route));
  };
  const auto cross = [&](Path& path, std::uint32_t group, std::uint32_t cable) {
    const std::uint32_t port = cables_.port(path.at().group, group, cable);
    path.to_router(router_of_port(port), 0);
    path.over(port);
  };
  const auto [group, router] = way.source;
  const auto [to_group, to_router] = way.destination;
  if (group == to_group) {
    if (routing_ == Routing::Ugal || router == to_router || routers_ < 3) add([](Path&) {});
    for (std::uint32_t over = 0; over < routers_ && router != to_router; ++over) {
      if (over != router && over != to_router) add([&](Path& path) { path.to_router(over, 0); });
    }
    return routes;
  }
  if (routing_ == Routing::Ugal || groups_ < 3) {
    for (std::uint32_t cable = 0; cable < cables_.count(group, to_group); ++cable) {
      add([&](Path& path) { cross(path, to_group, cable); });
    }
  }
  for (std::uint32_t over = 0; over < groups_; ++over) {
    if (over == group || over == to_group) continue;
    for (std::uint32_t there = 0; there < cables_.count(group, over); ++there) {
      for (std::uint32_t onward = 0; onward < cables_.count(over, to_group); ++onward) {
        add([&](Path& path) {
          cross(path, over, there);
          cross(path, to_group, onward);
        });
      }
    }
  }
  return routes;
}

}  // namespace manynode::network
