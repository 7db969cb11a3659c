#include "topologies/dragonfly_2d.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"
#include "topologies/chance.hpp"
#include "topologies/limits.hpp"

namespace manynode::network {

namespace {

// The uses of a chunk's random number; each use draws independently. Cables add the number of the hop.
enum Use : std::uint32_t { kGroup, kRouter, kDirect, kFirst, kOnward, kGatewayPort, kCable };

std::shared_ptr<const Topology> make_dragonfly_2d(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  Dragonfly2d::Shape shape{};
  shape.groups = object.integer("groups", 1, kMostParts);
  shape.rows = object.integer("rows", 1, kMostParts);
  shape.columns = object.integer("columns", 1, kMostParts);
  shape.hosts_per_router = object.integer("hosts_per_router", 1, kMostParts);
  shape.row_links = object.has("row_links") ? object.integer("row_links", 1, kMostParts) : 1;
  shape.column_links = object.has("column_links") ? object.integer("column_links", 1, kMostParts) : 1;
  shape.global_links = object.integer("global_links", 0, kMostParts);
  const std::map<std::string, Dragonfly2d::Routing> routings{{"minimal", Dragonfly2d::Routing::Minimal},
                                                             {"valiant", Dragonfly2d::Routing::Valiant},
                                                             {"ugal", Dragonfly2d::Routing::Ugal}};
  const auto routing = routings.find(object.has("routing") ? object.text("routing") : "minimal");
  if (routing == routings.end()) object.refuse("routing", "minimal, valiant, ugal");
  const double bias = object.has("ugal_bias") ? object.seconds("ugal_bias") : 200e-9;
  object.finish();
  return std::make_shared<Dragonfly2d>(shape, routing->second, bias, place);
}

const TopologyRegistration registration("dragonfly-2d", make_dragonfly_2d);

}  // namespace

// A route that grows link by link, with its current router.
class Dragonfly2d::Path {
 public:
  // `random`: draws the cables; else `turn` chooses them.
  Path(const Dragonfly2d& machine, LinkId* out, std::uint32_t hops, std::uint32_t at, const std::uint64_t* random)
      : machine_(machine), out_(out), hops_(hops), at_(at), random_(random) {}

  std::uint32_t at() const { return at_; }
  std::uint32_t hops() const { return hops_; }

  void append(LinkId link) { out_[hops_++] = link; }

  // Along the row, then along the column.
  void to_router(std::uint32_t to, std::uint32_t turn = 0) {
    const auto& columns = machine_.columns_;
    if (columns.remainder(at_) != columns.remainder(to)) {
      append(machine_.row_link(at_, columns.remainder(to), cable(machine_.row_links_, turn)));
      at_ = columns.quotient(at_) * columns.value() + columns.remainder(to);
    }
    if (at_ != to) {
      append(machine_.column_link(at_, columns.quotient(to) % machine_.rows_, cable(machine_.column_links_, turn)));
      at_ = to;
    }
  }

  // Over a global port of the current router's group, from the router of the port.
  void over(std::uint32_t port) {
    const std::uint32_t group = machine_.group_of(at_);
    append(machine_.global(group, port));
    const auto end = machine_.cables_.other_end(group, port);
    at_ = machine_.router_of(end.group, end.port);
  }

 private:
  std::uint32_t cable(const Divisor& cables, std::uint32_t turn) const {
    return random_ != nullptr ? draw(*random_, kCable + hops_, cables.value()) : cables.remainder(turn);
  }

  const Dragonfly2d& machine_;
  LinkId* out_;
  std::uint32_t hops_;
  std::uint32_t at_;
  const std::uint64_t* random_;
};

Dragonfly2d::Dragonfly2d(const Shape& shape, Routing routing, double ugal_bias_s, const std::string& place)
    : routing_(routing), bias_(to_picoseconds(ugal_bias_s)) {
  const auto fit = [&](std::uint64_t number) { return fitting(number, kind(), place); };
  groups_ = fit(static_cast<std::uint64_t>(shape.groups));
  rows_ = fit(static_cast<std::uint64_t>(shape.rows));
  columns_ = Divisor(fit(static_cast<std::uint64_t>(shape.columns)));
  routers_ = Divisor(fit(std::uint64_t{rows_} * columns_.value()));
  row_links_ = Divisor(fit(static_cast<std::uint64_t>(shape.row_links)));
  column_links_ = Divisor(fit(static_cast<std::uint64_t>(shape.column_links)));
  const std::uint32_t ports = fit(std::uint64_t{routers_.value()} * static_cast<std::uint64_t>(shape.global_links));
  if (groups_ - 1 > ports) {
    throw UserError("the groups of the dragonfly-2d cannot all be joined", place + ".global_links",
                    std::to_string(routers_.value()) + " routers with " + std::to_string(shape.global_links) +
                        " global links in each of " + std::to_string(groups_) + " groups",
                    "at least " + std::to_string((groups_ - 2) / routers_.value() + 1) + " global links per router",
                    "raise global_links, rows or columns, or lower groups");
  }
  global_links_ = Divisor(std::max(static_cast<std::uint32_t>(shape.global_links), 1u));
  cables_ = GlobalCables(groups_, ports);
  const std::uint32_t switches = fit(std::uint64_t{groups_} * routers_.value());
  const auto per_router = fit(static_cast<std::uint64_t>(shape.hosts_per_router));
  ends_ = HostLinks(fit(std::uint64_t{switches} * per_router), per_router);
  row_ = fit(2 * std::uint64_t{ends_.hosts()});
  column_ = fit(row_ + std::uint64_t{switches} * fit(std::uint64_t{columns_.value() - 1} * row_links_.value()));
  global_ = fit(column_ + std::uint64_t{switches} * fit(std::uint64_t{rows_ - 1} * column_links_.value()));
  links_ = fit(global_ + std::uint64_t{groups_} * cables_.ports());
}

LinkId Dragonfly2d::row_link(std::uint32_t router, std::uint32_t column, std::uint32_t cable) const {
  const std::uint32_t other = column < columns_.remainder(router) ? column : column - 1;
  return row_ + (router * (columns_.value() - 1) + other) * row_links_.value() + cable;
}

LinkId Dragonfly2d::column_link(std::uint32_t router, std::uint32_t row, std::uint32_t cable) const {
  const std::uint32_t other = row < columns_.quotient(router) % rows_ ? row : row - 1;
  return column_ + (router * (rows_ - 1) + other) * column_links_.value() + cable;
}

std::uint32_t Dragonfly2d::router_behind(LinkId link) const {
  if (link >= global_) {
    const auto end = cables_.other_end((link - global_) / cables_.ports(), (link - global_) % cables_.ports());
    return router_of(end.group, end.port);
  }
  if (link >= column_) {
    const std::uint32_t pair = column_links_.quotient(link - column_);
    const std::uint32_t router = pair / (rows_ - 1);
    const std::uint32_t other = pair % (rows_ - 1);
    const std::uint32_t row = columns_.quotient(router) % rows_;
    return router + ((other < row ? other : other + 1) - row) * columns_.value();
  }
  const std::uint32_t pair = row_links_.quotient(link - row_);
  const std::uint32_t router = pair / (columns_.value() - 1);
  const std::uint32_t other = pair % (columns_.value() - 1);
  const std::uint32_t column = columns_.remainder(router);
  return router + (other < column ? other : other + 1) - column;
}

std::uint32_t Dragonfly2d::apart(std::uint32_t one, std::uint32_t other) const {
  return (columns_.remainder(one) == columns_.remainder(other) ? 0 : 1) +
         (columns_.quotient(one) == columns_.quotient(other) ? 0 : 1);
}

bool Dragonfly2d::begins_alike(std::uint32_t from, std::uint32_t over, std::uint32_t to) const {
  return columns_.remainder(over) == columns_.remainder(to) && columns_.remainder(from) != columns_.remainder(to);
}

bool Dragonfly2d::passes(std::uint32_t from, std::uint32_t over, std::uint32_t to) const {
  return columns_.quotient(from) == columns_.quotient(to) && begins_alike(from, over, to);
}

std::uint32_t Dragonfly2d::links_over(std::uint32_t router, std::uint32_t port, std::uint32_t to) const {
  const std::uint32_t group = group_of(router);
  const auto end = cables_.other_end(group, port);
  return apart(router, router_of(group, port)) + 1 + apart(router_of(end.group, end.port), to);
}

std::uint32_t Dragonfly2d::drawn_port(const RouteRequest& request, std::uint32_t use, std::uint32_t from,
                                      std::uint32_t to) const {
  return cables_.port(from, to, draw(request.random, use, cables_.count(from, to)));
}

std::uint32_t Dragonfly2d::extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                                  const LinkLoads& loads) const {
  const std::uint32_t from = ends_.switch_of(request.source);
  const std::uint32_t to = ends_.switch_of(request.destination);
  const std::uint32_t at = hops < 2 ? from : router_behind(out[hops - 1]);
  Path path(*this, out, hops, at, adaptive() ? &request.random : nullptr);
  if (hops == 0) path.append(ends_.up(request.source));
  if (from == to) {
    path.append(ends_.down(request.destination));
  } else if (routing_ == Routing::Minimal) {
    minimal(request, path);
  } else if (routing_ == Routing::Valiant) {
    valiant(request, path);
  } else if (hops > 0) {
    ugal(request, hops, loads, path);
  }
  return path.hops();
}

void Dragonfly2d::minimal(const RouteRequest& request, Path& path) const {
  const std::uint32_t from = path.at();
  const std::uint32_t to = ends_.switch_of(request.destination);
  const std::uint32_t group = group_of(from);
  const std::uint32_t to_group = group_of(to);
  const std::uint32_t host = request.destination - to_group * routers_.value() * ends_.per_switch();
  const std::uint32_t turned = host + routers_.remainder(from);
  if (group == to_group) {
    path.to_router(to, turned);
  } else {
    // Destinations that take the same cable differ in the quotient, which chooses among the links to its router.
    const Divisor& counter = cables_.counter(group, to_group);
    const std::uint32_t round = counter.quotient(turned);
    const std::uint32_t port = cables_.port(group, to_group, turned - round * counter.value());
    path.to_router(router_of(group, port), round);
    path.over(port);
    path.to_router(to, host);
  }
  path.append(ends_.down(request.destination));
}

void Dragonfly2d::around(const RouteRequest& request, std::uint32_t port, Path& path) const {
  const std::uint32_t to = ends_.switch_of(request.destination);
  path.to_router(router_of(group_of(path.at()), port));
  path.over(port);
  if (group_of(path.at()) != group_of(to)) {
    const std::uint32_t onward = drawn_port(request, kOnward, group_of(path.at()), group_of(to));
    path.to_router(router_of(group_of(path.at()), onward));
    path.over(onward);
  }
  path.to_router(to);
  path.append(ends_.down(request.destination));
}

void Dragonfly2d::valiant(const RouteRequest& request, Path& path) const {
  const std::uint32_t from = path.at();
  const std::uint32_t to = ends_.switch_of(request.destination);
  const std::uint32_t group = group_of(from);
  if (group != group_of(to)) {
    const std::uint32_t over =
        groups_ < 3 ? group_of(to) : third(draw(request.random, kGroup, groups_ - 2), group, group_of(to));
    return around(request, drawn_port(request, kFirst, group, over), path);
  }
  if (routers_.value() > 2) {
    const std::uint32_t over = group * routers_.value() + third(draw(request.random, kRouter, routers_.value() - 2),
                                                                routers_.remainder(from), routers_.remainder(to));
    // A way that passes the destination ends there.
    if (!passes(from, over, to)) path.to_router(over);
  }
  path.to_router(to);
  path.append(ends_.down(request.destination));
}

void Dragonfly2d::ugal(const RouteRequest& request, std::uint32_t hops, const LinkLoads& loads, Path& path) const {
  if (hops > 1) return at_gateway(request, loads, path);
  const std::uint32_t from = path.at();
  const std::uint32_t to = ends_.switch_of(request.destination);
  const std::uint32_t group = group_of(from);
  // The backlog of the first link on the way to a router of the group, or to a port of this one, times all links.
  const auto cost = [&](std::uint32_t first, std::uint32_t port, std::uint32_t links) {
    std::array<LinkId, 10> way;
    Path local(*this, way.data(), path.hops(), from, &request.random);
    local.to_router(first);
    return loads.backlog(local.hops() > path.hops() ? way[path.hops()] : global(group, port)) * links;
  };
  if (group == group_of(to)) {
    if (routers_.value() > 2) {
      const std::uint32_t over = group * routers_.value() + third(draw(request.random, kRouter, routers_.value() - 2),
                                                                  routers_.remainder(from), routers_.remainder(to));
      if (!begins_alike(from, over, to) &&
          cost(to, 0, apart(from, to)) > cost(over, 0, apart(from, over) + apart(over, to)) + bias_) {
        path.to_router(over);
      }
    }
    path.to_router(to);
    path.append(ends_.down(request.destination));
    return;
  }
  const std::uint32_t direct = drawn_port(request, kDirect, group, group_of(to));
  if (groups_ > 2) {
    const std::uint32_t over = third(draw(request.random, kGroup, groups_ - 2), group, group_of(to));
    const std::uint32_t port = drawn_port(request, kFirst, group, over);
    const auto end = cables_.other_end(group, port);
    const std::uint32_t onward = drawn_port(request, kOnward, over, group_of(to));
    const std::uint32_t links =
        apart(from, router_of(group, port)) + 1 + links_over(router_of(end.group, end.port), onward, to);
    if (cost(router_of(group, direct), direct, links_over(from, direct, to)) >
        cost(router_of(group, port), port, links) + bias_) {
      return around(request, port, path);
    }
  }
  const std::uint32_t gateway = router_of(group, direct);
  if (gateway == from) return around(request, direct, path);
  path.to_router(gateway);
}

void Dragonfly2d::at_gateway(const RouteRequest& request, const LinkLoads& loads, Path& path) const {
  const std::uint32_t to = ends_.switch_of(request.destination);
  const std::uint32_t group = group_of(path.at());
  const std::uint32_t first = routers_.remainder(path.at()) * global_links_.value();
  const std::uint32_t count = std::min(global_links_.value(), cables_.ports() - first);
  const std::uint32_t start = draw(request.random, kGatewayPort, count);
  constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t direct = kNone;
  std::uint32_t detour = kNone;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t port = first + (start + i < count ? start + i : start + i - count);
    if (cables_.other_end(group, port).group != group_of(to)) {
      if (detour == kNone) detour = port;
    } else if (direct == kNone || loads.backlog(global(group, port)) < loads.backlog(global(group, direct))) {
      direct = port;
    }
  }
  if (detour != kNone) {
    const auto end = cables_.other_end(group, detour);
    const std::uint32_t onward = drawn_port(request, kOnward, end.group, group_of(to));
    const std::uint32_t links = 1 + links_over(router_of(end.group, end.port), onward, to);
    if (loads.backlog(global(group, direct)) * links_over(path.at(), direct, to) >
        loads.backlog(global(group, detour)) * links + bias_) {
      direct = detour;
    }
  }
  around(request, direct, path);
}

std::vector<std::vector<LinkId>> Dragonfly2d::possible_routes(std::uint32_t source, std::uint32_t destination) const {
  if (!adaptive()) return Topology::possible_routes(source, destination);
  const std::uint32_t from = ends_.switch_of(source);
  const std::uint32_t to = ends_.switch_of(destination);
  const std::uint32_t group = group_of(from);
  std::vector<std::vector<LinkId>> routes;
  const auto add = [&](const auto& middle) {
    std::vector<LinkId> route(max_hops());
    Path path(*this, route.data(), 0, from, nullptr);
    path.append(ends_.up(source));
    middle(path);
    path.to_router(to);
    path.append(ends_.down(destination));
    route.resize(path.hops());
    routes.push_back(std::move(route));
  };
  const auto cross = [&](Path& path, std::uint32_t other, std::uint32_t cable) {
    const std::uint32_t port = cables_.port(group_of(path.at()), other, cable);
    path.to_router(router_of(group_of(path.at()), port));
    path.over(port);
  };
  if (group == group_of(to)) {
    if (routing_ == Routing::Ugal || from == to || routers_.value() < 3) add([](Path&) {});
    for (std::uint32_t i = 0; i < routers_.value() && from != to; ++i) {
      const std::uint32_t over = group * routers_.value() + i;
      if (over == from || over == to || (routing_ == Routing::Ugal && begins_alike(from, over, to))) continue;
      add([&](Path& path) {
        if (!passes(from, over, to)) path.to_router(over);
      });
    }
    return routes;
  }
  if (routing_ == Routing::Ugal || groups_ < 3) {
    for (std::uint32_t cable = 0; cable < cables_.count(group, group_of(to)); ++cable) {
      add([&](Path& path) { cross(path, group_of(to), cable); });
    }
  }
  for (std::uint32_t over = 0; over < groups_; ++over) {
    if (over == group || over == group_of(to)) continue;
    for (std::uint32_t there = 0; there < cables_.count(group, over); ++there) {
      for (std::uint32_t onward = 0; onward < cables_.count(over, group_of(to)); ++onward) {
        add([&](Path& path) {
          cross(path, over, there);
          cross(path, group_of(to), onward);
        });
      }
    }
  }
  return routes;
}

std::uint8_t Dragonfly2d::link_class(LinkId link) const {
  if (link < row_) return link < ends_.hosts() ? 0 : 1;
  return link < column_ ? 2 : link < global_ ? 3 : 4;
}

std::uint8_t Dragonfly2d::virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const {
  if (before < row_ || link < row_) return channel;
  const bool anew = before >= global_ || (link < global_ && link_class(link) <= link_class(before));
  return anew ? static_cast<std::uint8_t>(channel + 1) : channel;
}

LinkDescription Dragonfly2d::describe(LinkId link) const {
  const auto name = [&](std::uint32_t router) {
    const std::uint32_t row = columns_.quotient(router);
    return "router-" + std::to_string(row / rows_) + "-" + std::to_string(row % rows_) + "-" +
           std::to_string(columns_.remainder(router));
  };
  if (link < row_) return ends_.describe(link, name);
  std::uint32_t from = 0;
  if (link >= global_) {
    from = router_of((link - global_) / cables_.ports(), (link - global_) % cables_.ports());
  } else if (link >= column_) {
    from = column_links_.quotient(link - column_) / (rows_ - 1);
  } else {
    from = row_links_.quotient(link - row_) / (columns_.value() - 1);
  }
  return {name(from), name(router_behind(link))};
}

}  // namespace manynode::network
