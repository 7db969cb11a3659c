#include "topologies/dragonfly_plus.hpp"

#include <algorithm>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"
#include "topologies/chance.hpp"
#include "topologies/limits.hpp"

namespace manynode::network {

namespace {

// The uses of a chunk's random number; each use draws independently. Cables add the number of the hop.
enum Use : std::uint32_t { kStart, kPort, kDetour, kLeaf, kOnward, kSpine, kCable };

std::shared_ptr<const Topology> make_dragonfly_plus(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  DragonflyPlus::Shape shape{};
  shape.groups = object.integer("groups", 1, kMostParts);
  shape.leaves_per_group = object.integer("leaves_per_group", 1, kMostParts);
  shape.spines_per_group = object.integer("spines_per_group", 1, kMostParts);
  shape.hosts_per_leaf = object.integer("hosts_per_leaf", 1, kMostParts);
  shape.leaf_links = object.has("leaf_links") ? object.integer("leaf_links", 1, kMostParts) : 1;
  shape.global_links = object.integer("global_links", 0, kMostParts);
  const std::string routing = object.has("routing") ? object.text("routing") : "minimal";
  if (routing != "minimal" && routing != "ugal") object.refuse("routing", "minimal, ugal");
  const double bias = object.has("ugal_bias") ? object.seconds("ugal_bias") : 200e-9;
  object.finish();
  return std::make_shared<DragonflyPlus>(shape, routing == "ugal", bias, place);
}

const TopologyRegistration registration("dragonfly-plus", make_dragonfly_plus);

}  // namespace

DragonflyPlus::DragonflyPlus(const Shape& shape, bool ugal, double ugal_bias_s, const std::string& place)
    : ugal_(ugal), bias_(to_picoseconds(ugal_bias_s)) {
  const auto fit = [&](std::uint64_t number) { return fitting(number, kind(), place); };
  groups_ = fit(static_cast<std::uint64_t>(shape.groups));
  spines_ = fit(static_cast<std::uint64_t>(shape.spines_per_group));
  leaves_ = Divisor(fit(static_cast<std::uint64_t>(shape.leaves_per_group)));
  leaf_links_ = Divisor(fit(static_cast<std::uint64_t>(shape.leaf_links)));
  const std::uint32_t ports = fit(std::uint64_t{spines_} * static_cast<std::uint64_t>(shape.global_links));
  if (groups_ - 1 > ports) {
    throw UserError("the groups of the dragonfly-plus cannot all be joined", place + ".global_links",
                    std::to_string(spines_) + " spines with " + std::to_string(shape.global_links) +
                        " global links in each of " + std::to_string(groups_) + " groups",
                    "at least " + std::to_string((groups_ - 2) / spines_ + 1) + " global links per spine",
                    "raise global_links or spines_per_group, or lower groups");
  }
  global_links_ = Divisor(std::max(static_cast<std::uint32_t>(shape.global_links), 1u));
  ports_up_ = Divisor(fit(std::uint64_t{spines_} * leaf_links_.value()));
  cables_ = GlobalCables(groups_, ports);
  const std::uint32_t leaves = fit(std::uint64_t{groups_} * leaves_.value());
  fit(std::uint64_t{groups_} * (std::uint64_t{leaves_.value()} + spines_));
  const auto per_leaf = fit(static_cast<std::uint64_t>(shape.hosts_per_leaf));
  ends_ = HostLinks(fit(std::uint64_t{leaves} * per_leaf), per_leaf);
  up_ = fit(2 * std::uint64_t{ends_.hosts()});
  down_ = fit(up_ + std::uint64_t{leaves} * ports_up_.value());
  global_ = fit(down_ + std::uint64_t{down_ - up_});
  links_ = fit(global_ + std::uint64_t{groups_} * cables_.ports());
}

DragonflyPlus::Way DragonflyPlus::way_of(const RouteRequest& request) const {
  const std::uint32_t from = ends_.switch_of(request.source);
  const std::uint32_t to = ends_.switch_of(request.destination);
  const std::uint32_t to_group = leaves_.quotient(to);
  const std::uint32_t first = to_group * leaves_.value() * ends_.per_switch();
  return {from, leaves_.quotient(from), to, to_group, request.destination - first};
}

std::uint32_t DragonflyPlus::extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                                    const LinkLoads& loads) const {
  if (!ugal_) return minimal(request, out);
  const Way way = way_of(request);
  if (hops == 0) {
    out[0] = ends_.up(request.source);
    if (way.from_leaf != way.to_leaf) return 1;
    out[1] = ends_.down(request.destination);
    return 2;
  }
  if (hops == 1) {
    out[1] = least_up(request, way, loads);
    return 2;
  }
  const std::uint32_t spine = leaf_links_.quotient(out[1] - up_) % spines_;
  // Only the links of the spine itself may be chosen by load.
  const auto cable = [&](LinkId first, std::uint32_t hop) {
    if (hop == 2) return least_loaded(first, leaf_links_.value(), request.random, kCable + hop, loads);
    return first + draw(request.random, kCable + hop, leaf_links_.value());
  };
  return finish(way, spine, choose_onward(request, way, spine, loads), request.destination, 2, out, cable);
}

std::uint32_t DragonflyPlus::minimal(const RouteRequest& request, LinkId* out) const {
  const Way way = way_of(request);
  out[0] = ends_.up(request.source);
  if (way.from_leaf == way.to_leaf) {
    out[1] = ends_.down(request.destination);
    return 2;
  }
  Onward onward{kNone, kNone, kNone};
  std::uint32_t spine;
  std::uint32_t cable_up;
  if (way.from_group == way.to_group) {
    const std::uint32_t port = ports_up_.remainder(way.host);
    spine = port % spines_;
    cable_up = port / spines_;
  } else {
    // Destinations that take the same global cable differ in the quotient, which chooses among the links to its spine.
    const std::uint32_t turned = way.host + leaves_.remainder(way.from_leaf);
    const Divisor& counter = cables_.counter(way.from_group, way.to_group);
    const std::uint32_t round = counter.quotient(turned);
    onward.port = cables_.port(way.from_group, way.to_group, apart(turned - round * counter.value(), counter.value()));
    spine = spine_of(onward.port);
    cable_up = leaf_links_.remainder(round);
  }
  out[1] = up(way.from_leaf, spine, cable_up);
  return finish(way, spine, onward, request.destination, 2, out,
                [&](LinkId first, std::uint32_t) { return first + leaf_links_.remainder(way.host / spines_); });
}

// Where a spine has several cables to each group, consecutive numbers shall choose different spines.
std::uint32_t DragonflyPlus::apart(std::uint32_t number, std::uint32_t cables) const {
  const std::uint32_t together = groups_ > 2 ? global_links_.value() / (groups_ - 1) : global_links_.value();
  if (together < 2 || cables % together != 0) return number;
  const std::uint32_t spines = cables / together;
  return number % spines * together + number / spines;
}

LinkId DragonflyPlus::least_up(const RouteRequest& request, const Way& way, const LinkLoads& loads) const {
  const LinkId first = up(way.from_leaf, 0, 0);
  if (way.from_group == way.to_group) {
    return least_loaded(first, ports_up_.value(), request.random, kStart, loads);
  }
  // The links to spines with a cable to the destination's group.
  const std::uint32_t start = draw(request.random, kStart, spines_);
  LinkId best = kNone;
  for (std::uint32_t i = 0; i < spines_; ++i) {
    const std::uint32_t spine = start + i < spines_ ? start + i : start + i - spines_;
    if (port_to(way.from_group, spine, way.to_group, 0) == kNone) continue;
    const LinkId link = least_loaded(up(way.from_leaf, spine, 0), leaf_links_.value(), request.random, kSpine, loads);
    if (best == kNone || loads.backlog(link) < loads.backlog(best)) best = link;
    if (loads.backlog(best) == 0) break;
  }
  return best;
}

std::uint32_t DragonflyPlus::port_to(std::uint32_t group, std::uint32_t spine, std::uint32_t to,
                                     std::uint32_t start) const {
  const std::uint32_t first = spine * global_links_.value();
  if (first >= cables_.ports()) return kNone;
  const std::uint32_t count = std::min(global_links_.value(), cables_.ports() - first);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t port = first + (start + i) % count;
    if (cables_.other_end(group, port).group == to) return port;
  }
  return kNone;
}

DragonflyPlus::Onward DragonflyPlus::choose_onward(const RouteRequest& request, const Way& way, std::uint32_t spine,
                                                   const LinkLoads& loads) const {
  if (way.from_group == way.to_group) return {kNone, kNone, kNone};
  const std::uint32_t first = spine * global_links_.value();
  const std::uint32_t count = std::min(global_links_.value(), cables_.ports() - first);
  const std::uint32_t start = draw(request.random, kPort, count);
  std::uint32_t direct = kNone;
  std::uint32_t detour = kNone;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t port = first + (start + i < count ? start + i : start + i - count);
    if (cables_.other_end(way.from_group, port).group != way.to_group) {
      if (detour == kNone) detour = port;
    } else if (direct == kNone ||
               loads.backlog(global(way.from_group, port)) < loads.backlog(global(way.from_group, direct))) {
      direct = port;
    }
  }
  if (detour == kNone) return {direct, kNone, kNone};
  const Onward around = detour_over(request, way, detour);
  const Picoseconds links = around.leaf == kNone ? 3 : 5;
  const bool turn =
      loads.backlog(global(way.from_group, direct)) * 2 > loads.backlog(global(way.from_group, detour)) * links + bias_;
  return turn ? around : Onward{direct, kNone, kNone};
}

DragonflyPlus::Onward DragonflyPlus::detour_over(const RouteRequest& request, const Way& way,
                                                 std::uint32_t port) const {
  const auto end = cables_.other_end(way.from_group, port);
  const std::uint32_t spine = spine_of(end.port);
  const std::uint32_t onward =
      port_to(end.group, spine, way.to_group, draw(request.random, kOnward, global_links_.value()));
  if (onward != kNone) return {port, kNone, onward};
  const std::uint32_t leaf = end.group * leaves_.value() + draw(request.random, kLeaf, leaves_.value());
  const std::uint32_t cable = draw(request.random, kDetour, cables_.count(end.group, way.to_group));
  return {port, leaf, cables_.port(end.group, way.to_group, cable)};
}

template <class Cable>
std::uint32_t DragonflyPlus::finish(const Way& way, std::uint32_t spine, const Onward& onward,
                                    std::uint32_t destination, std::uint32_t hops, LinkId* out, Cable cable) const {
  if (onward.port != kNone) {
    out[hops++] = global(way.from_group, onward.port);
    auto end = cables_.other_end(way.from_group, onward.port);
    spine = spine_of(end.port);
    if (onward.second_port != kNone) {
      if (onward.leaf != kNone) {
        out[hops] = cable(down(onward.leaf, spine, 0), hops);
        ++hops;
        spine = spine_of(onward.second_port);
        out[hops] = cable(up(onward.leaf, spine, 0), hops);
        ++hops;
      }
      out[hops++] = global(end.group, onward.second_port);
      end = cables_.other_end(end.group, onward.second_port);
      spine = spine_of(end.port);
    }
  }
  out[hops] = cable(down(way.to_leaf, spine, 0), hops);
  ++hops;
  out[hops++] = ends_.down(destination);
  return hops;
}

std::vector<std::vector<LinkId>> DragonflyPlus::possible_routes(std::uint32_t source, std::uint32_t destination) const {
  if (!ugal_) return Topology::possible_routes(source, destination);
  const Way way = way_of({source, destination});
  if (way.from_leaf == way.to_leaf) return {{ends_.up(source), ends_.down(destination)}};
  std::vector<std::vector<LinkId>> routes;
  const auto add = [&](std::uint32_t spine, const Onward& onward) {
    std::vector<LinkId> route(max_hops());
    route[0] = ends_.up(source);
    route[1] = up(way.from_leaf, spine, 0);
    route.resize(
        finish(way, spine, onward, destination, 2, route.data(), [](LinkId first, std::uint32_t) { return first; }));
    routes.push_back(std::move(route));
  };
  const auto ports_of = [&](std::uint32_t spine) {
    const std::uint32_t first = spine * global_links_.value();
    return std::pair(std::min(first, cables_.ports()), std::min(first + global_links_.value(), cables_.ports()));
  };
  for (std::uint32_t spine = 0; spine < spines_; ++spine) {
    if (way.from_group == way.to_group) {
      add(spine, {kNone, kNone, kNone});
      continue;
    }
    if (port_to(way.from_group, spine, way.to_group, 0) == kNone) continue;
    for (auto [port, last] = ports_of(spine); port < last; ++port) {
      const auto end = cables_.other_end(way.from_group, port);
      if (end.group == way.to_group) {
        add(spine, {port, kNone, kNone});
        continue;
      }
      const std::uint32_t there = spine_of(end.port);
      if (port_to(end.group, there, way.to_group, 0) != kNone) {
        for (auto [onward, end_of] = ports_of(there); onward < end_of; ++onward) {
          if (cables_.other_end(end.group, onward).group == way.to_group) add(spine, {port, kNone, onward});
        }
        continue;
      }
      for (std::uint32_t leaf = 0; leaf < leaves_.value(); ++leaf) {
        for (std::uint32_t cable = 0; cable < cables_.count(end.group, way.to_group); ++cable) {
          add(spine, {port, end.group * leaves_.value() + leaf, cables_.port(end.group, way.to_group, cable)});
        }
      }
    }
  }
  return routes;
}

std::uint8_t DragonflyPlus::link_class(LinkId link) const {
  if (link < up_) return link < ends_.hosts() ? 0 : 1;
  return link < down_ ? 2 : link < global_ ? 3 : 4;
}

LinkDescription DragonflyPlus::describe(LinkId link) const {
  const auto leaf_name = [&](std::uint32_t leaf) {
    return "leaf-" + std::to_string(leaf / leaves_.value()) + "-" + std::to_string(leaf % leaves_.value());
  };
  const auto spine_name = [](std::uint32_t group, std::uint32_t spine) {
    return "spine-" + std::to_string(group) + "-" + std::to_string(spine);
  };
  if (link < up_) return ends_.describe(link, leaf_name);
  if (link < global_) {
    const bool is_up = link < down_;
    const std::uint32_t pair = leaf_links_.quotient(link - (is_up ? up_ : down_));
    const std::uint32_t leaf = pair / spines_;
    const std::string spine = spine_name(leaf / leaves_.value(), pair % spines_);
    if (is_up) return {leaf_name(leaf), spine};
    return {spine, leaf_name(leaf)};
  }
  const std::uint32_t group = (link - global_) / cables_.ports();
  const std::uint32_t port = (link - global_) % cables_.ports();
  const auto end = cables_.other_end(group, port);
  return {spine_name(group, spine_of(port)), spine_name(end.group, spine_of(end.port))};
}

}  // namespace manynode::network
