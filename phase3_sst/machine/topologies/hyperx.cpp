#include "topologies/hyperx.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"
#include "topologies/chance.hpp"
#include "topologies/limits.hpp"

namespace manynode::network {

namespace {

// The uses of a chunk's random number; each use draws independently. Cables and choices add the number of the hop.
enum Use : std::uint32_t { kSwitch, kLink };

std::shared_ptr<const Topology> make_hyperx(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  const auto shape = object.integers("shape", 1, kMostParts);
  const auto hosts = object.integer("hosts_per_switch", 1, kMostParts);
  const bool given = object.has("links_by_dimension") && !object.value("links_by_dimension").empty();
  const auto links =
      given ? object.integers("links_by_dimension", 1, kMostParts) : std::vector<std::int64_t>(shape.size(), 1);
  if (links.size() != shape.size()) {
    object.refuse("links_by_dimension", "one number for each of the " + std::to_string(shape.size()) + " dimensions");
  }
  const std::map<std::string, HyperX::Routing> routings{{"dimension-order", HyperX::Routing::DimensionOrder},
                                                        {"minimal-adaptive", HyperX::Routing::MinimalAdaptive},
                                                        {"valiant", HyperX::Routing::Valiant}};
  const auto routing = routings.find(object.has("routing") ? object.text("routing") : "dimension-order");
  if (routing == routings.end()) object.refuse("routing", "dimension-order, minimal-adaptive, valiant");
  object.finish();
  return std::make_shared<HyperX>(shape, hosts, links, routing->second, place);
}

const TopologyRegistration registration("hyperx", make_hyperx);

}  // namespace

HyperX::HyperX(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch,
               const std::vector<std::int64_t>& links_by_dimension, Routing routing, const std::string& place)
    : routing_(routing) {
  if (shape.empty()) {
    throw UserError("the hyperx has no dimension", place + ".shape", "an empty list", "one size per dimension",
                    "give the sizes of the dimensions, such as [8, 8]");
  }
  const auto fit = [&](std::uint64_t number) { return fitting(number, kind(), place); };
  for (const auto size : shape) {
    shape_.push_back(fit(static_cast<std::uint64_t>(size)));
    switches_ = fit(std::uint64_t{switches_} * shape_.back());
  }
  const auto per_switch = fit(static_cast<std::uint64_t>(hosts_per_switch));
  ends_ = HostLinks(fit(std::uint64_t{switches_} * per_switch), per_switch);
  links_ = fit(2 * std::uint64_t{ends_.hosts()});
  std::uint32_t stride = 1;
  for (std::uint32_t number = 0; number < shape_.size(); ++number) {
    const std::uint32_t size = shape_[number];
    if (size == 1) continue;
    const std::uint32_t width = fit(static_cast<std::uint64_t>(links_by_dimension[number]));
    dimensions_.push_back({Divisor(size), number, Divisor(stride), Divisor(width), links_});
    const std::uint32_t ports = fit(std::uint64_t{size - 1} * width);
    links_ = fit(links_ + std::uint64_t{switches_} * ports);
    stride *= size;
  }
  check_hops(max_hops(), kind(), place);
}

std::uint32_t HyperX::max_hops() const {
  const auto dimensions = static_cast<std::uint32_t>(dimensions_.size());
  return 2 + (routing_ == Routing::Valiant ? 2 : 1) * dimensions;
}

LinkId HyperX::first_link(const Dimension& dimension, std::uint32_t at, std::uint32_t to) const {
  const std::uint32_t here = coordinate(dimension, at);
  const std::uint32_t there = coordinate(dimension, to);
  const std::uint32_t other = there < here ? there : there - 1;
  return dimension.first + (at * (dimension.size.value() - 1) + other) * dimension.width.value();
}

template <class Cable>
std::uint32_t HyperX::in_order(std::uint32_t at, std::uint32_t to, std::uint32_t hops, LinkId* out, Cable cable) const {
  for (const Dimension& dimension : dimensions_) {
    const std::uint32_t here = coordinate(dimension, at);
    const std::uint32_t there = coordinate(dimension, to);
    if (here == there) continue;
    out[hops] = first_link(dimension, at, to) + cable(dimension, hops);
    ++hops;
    at += (there - here) * dimension.stride.value();
  }
  return hops;
}

std::uint32_t HyperX::extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                             const LinkLoads& loads) const {
  const std::uint32_t from = ends_.switch_of(request.source);
  const std::uint32_t to = ends_.switch_of(request.destination);
  if (hops == 0) {
    out[hops++] = ends_.up(request.source);
    // The chunk must first come to its switch, whose loads decide.
    if (routing_ == Routing::MinimalAdaptive && from != to) return hops;
  }
  if (routing_ == Routing::MinimalAdaptive) {
    const std::uint32_t at = hops == 1 ? from : switch_behind(out[hops - 1]);
    if (at == to) {
      out[hops++] = ends_.down(request.destination);
      return hops;
    }
    const auto count = static_cast<std::uint32_t>(dimensions_.size());
    const std::uint32_t start = draw(request.random, kLink + 2 * hops, count);
    LinkId best = 0;
    bool found = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Dimension& dimension = dimensions_[(start + i) % count];
      if (coordinate(dimension, at) == coordinate(dimension, to)) continue;
      const LinkId link = least_loaded(first_link(dimension, at, to), dimension.width.value(), request.random,
                                       kLink + 2 * hops + 1, loads);
      if (!found || loads.backlog(link) < loads.backlog(best)) best = link;
      found = true;
    }
    out[hops++] = best;
    if (switch_behind(best) == to) out[hops++] = ends_.down(request.destination);
    return hops;
  }
  if (routing_ == Routing::Valiant) {
    const auto drawn = [&](const Dimension& dimension, std::uint32_t hop) {
      return draw(request.random, kLink + hop, dimension.width.value());
    };
    std::uint32_t at = from;
    if (from != to && switches_ > 2) {
      const std::uint32_t over = third(draw(request.random, kSwitch, switches_ - 2), from, to);
      hops = in_order(from, over, hops, out, drawn);
      at = over;
    }
    hops = in_order(at, to, hops, out, drawn);
  } else {
    std::uint32_t sum = ends_.place_of(request.destination);
    for (const Dimension& dimension : dimensions_) sum += coordinate(dimension, from) + coordinate(dimension, to);
    hops = in_order(from, to, hops, out,
                    [&](const Dimension& dimension, std::uint32_t) { return dimension.width.remainder(sum); });
  }
  out[hops++] = ends_.down(request.destination);
  return hops;
}

std::vector<std::vector<LinkId>> HyperX::possible_routes(std::uint32_t source, std::uint32_t destination) const {
  if (!adaptive()) return Topology::possible_routes(source, destination);
  const std::uint32_t from = ends_.switch_of(source);
  const std::uint32_t to = ends_.switch_of(destination);
  const auto first = [](const Dimension&, std::uint32_t) { return 0u; };
  std::vector<std::vector<LinkId>> routes;
  const auto add = [&](const auto& middle) {
    std::vector<LinkId> route(max_hops());
    route[0] = ends_.up(source);
    std::uint32_t hops = middle(route.data());
    route[hops++] = ends_.down(destination);
    route.resize(hops);
    routes.push_back(std::move(route));
  };
  if (routing_ == Routing::Valiant) {
    if (from == to || switches_ < 3) add([&](LinkId* out) { return in_order(from, to, 1, out, first); });
    for (std::uint32_t over = 0; over < switches_ && from != to; ++over) {
      if (over == from || over == to) continue;
      add([&](LinkId* out) { return in_order(over, to, in_order(from, over, 1, out, first), out, first); });
    }
    return routes;
  }
  // All orders of the dimensions in which the switches differ.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (coordinate(dimensions_[i], from) != coordinate(dimensions_[i], to)) order.push_back(i);
  }
  do {
    add([&](LinkId* out) {
      std::uint32_t hops = 1;
      std::uint32_t at = from;
      for (const std::size_t i : order) {
        out[hops] = first_link(dimensions_[i], at, to);
        at = switch_behind(out[hops++]);
      }
      return hops;
    });
  } while (std::next_permutation(order.begin(), order.end()));
  return routes;
}

std::size_t HyperX::dimension_of(LinkId link) const {
  std::size_t i = dimensions_.size() - 1;
  while (link < dimensions_[i].first) --i;
  return i;
}

std::uint32_t HyperX::switch_behind(LinkId link) const {
  const Dimension& dimension = dimensions_[dimension_of(link)];
  const std::uint32_t pair = dimension.width.quotient(link - dimension.first);
  const std::uint32_t others = dimension.size.value() - 1;
  const std::uint32_t at = pair / others;
  const std::uint32_t other = pair % others;
  const std::uint32_t here = coordinate(dimension, at);
  const std::uint32_t there = other < here ? other : other + 1;
  return at + (there - here) * dimension.stride.value();
}

std::vector<std::string> HyperX::link_classes() const {
  std::vector<std::string> names{"host-up", "host-down"};
  for (const auto& dimension : dimensions_) names.push_back("dim" + std::to_string(dimension.number));
  return names;
}

std::uint8_t HyperX::link_class(LinkId link) const {
  if (link < ends_.end()) return link < ends_.hosts() ? 0 : 1;
  return static_cast<std::uint8_t>(2 + dimension_of(link));
}

std::uint32_t HyperX::virtual_channels() const {
  if (routing_ == Routing::DimensionOrder) return 1;
  if (routing_ == Routing::Valiant) return 2;
  return std::max(static_cast<std::uint32_t>(dimensions_.size()), 1u);
}

std::uint8_t HyperX::virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const {
  if (before < ends_.hosts() || link < ends_.end()) return channel;
  const bool next = routing_ == Routing::MinimalAdaptive || dimension_of(link) <= dimension_of(before);
  return next ? static_cast<std::uint8_t>(channel + 1) : channel;
}

std::string HyperX::name_of(std::uint32_t index) const {
  std::string name = "router";
  for (const auto size : shape_) {
    name += "-" + std::to_string(index % size);
    index /= size;
  }
  return name;
}

LinkDescription HyperX::describe(LinkId link) const {
  if (link < ends_.end()) return ends_.describe(link, [&](std::uint32_t index) { return name_of(index); });
  const Dimension& dimension = dimensions_[dimension_of(link)];
  const std::uint32_t at = dimension.width.quotient(link - dimension.first) / (dimension.size.value() - 1);
  return {name_of(at), name_of(switch_behind(link))};
}

}  // namespace manynode::network
