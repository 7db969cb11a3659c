#include "topologies/torus.hpp"

#include <algorithm>
#include <array>

#include "manynode/error_report.hpp"
#include "strict_json.hpp"
#include "topologies/limits.hpp"

namespace manynode::network {

namespace {

std::shared_ptr<const Topology> make_torus(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  const auto shape = object.integers("shape", 1, kMostParts);
  const auto hosts = object.integer("hosts_per_switch", 1, kMostParts);
  const auto links = object.integer("links_per_direction", 1, kMostParts);
  // Empty lists are as good as none.
  const auto list = [&](const char* key, std::int64_t least) {
    const bool given = object.has(key) && !(object.value(key).is_array() && object.value(key).empty());
    return given ? object.integers(key, least, kMostParts) : std::vector<std::int64_t>{};
  };
  auto widths = list("links_by_dimension", 1);
  if (widths.empty()) widths.assign(shape.size(), links);
  if (widths.size() != shape.size()) {
    object.refuse("links_by_dimension", "one number for each of the " + std::to_string(shape.size()) + " dimensions");
  }
  const auto mesh = list("mesh", 0);
  for (const auto dimension : mesh) {
    if (dimension >= static_cast<std::int64_t>(shape.size())) {
      object.refuse("mesh", "numbers of dimensions, 0 to " + std::to_string(shape.size() - 1));
    }
  }
  const std::string routing = object.has("routing") ? object.text("routing") : "dimension-order";
  if (routing != "dimension-order" && routing != "dimension-order-plus") {
    object.refuse("routing", "dimension-order or dimension-order-plus");
  }
  object.finish();
  return std::make_shared<Torus>(shape, hosts, widths, mesh, place, routing == "dimension-order");
}

const TopologyRegistration registration("torus", make_torus);

}  // namespace

Torus::Torus(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch, std::int64_t links_per_direction,
             const std::string& place, bool balanced)
    : Torus(shape, hosts_per_switch, std::vector<std::int64_t>(shape.size(), links_per_direction), {}, place,
            balanced) {}

Torus::Torus(const std::vector<std::int64_t>& shape, std::int64_t hosts_per_switch,
             const std::vector<std::int64_t>& links_by_dimension, const std::vector<std::int64_t>& mesh,
             const std::string& place, bool balanced)
    : balanced_(balanced) {
  if (shape.empty()) {
    throw UserError("the torus has no dimension", place + ".shape", "an empty list", "one size per dimension",
                    "give the sizes of the dimensions, such as [4, 4, 4]");
  }
  const auto fit = [&](std::uint64_t number) { return fitting(number, kind(), place); };
  const auto is_mesh = [&](std::size_t number) {
    return std::find(mesh.begin(), mesh.end(), static_cast<std::int64_t>(number)) != mesh.end();
  };
  std::uint64_t hops = max_hops_;
  for (std::size_t number = 0; number < shape.size(); ++number) {
    shape_.push_back(fit(static_cast<std::uint64_t>(shape[number])));
    switches_ = fit(std::uint64_t{switches_} * shape_.back());
    hops += is_mesh(number) ? shape_.back() - 1 : shape_.back() / 2;
  }
  check_hops(hops, kind(), place);
  max_hops_ = static_cast<std::uint32_t>(hops);
  hosts_per_switch_ = Divisor(fit(static_cast<std::uint64_t>(hosts_per_switch)));
  hosts_ = fit(std::uint64_t{switches_} * hosts_per_switch_.value());

  links_ = fit(2 * std::uint64_t{hosts_});
  std::uint32_t stride = 1;
  for (std::uint32_t number = 0; number < shape_.size(); ++number) {
    const std::uint32_t size = shape_[number];
    if (size == 1) continue;
    const bool open = is_mesh(number);
    const std::uint32_t width = fit(static_cast<std::uint64_t>(links_by_dimension[number]));
    const std::uint32_t senders = open ? switches_ / size * (size - 1) : switches_;
    const LinkId plus = links_;
    const LinkId minus = fit(plus + std::uint64_t{senders} * width);
    links_ = fit(minus + std::uint64_t{senders} * width);
    dimensions_.push_back({Divisor(size), number, Divisor(stride), Divisor(width),
                           Divisor(open ? (size - 1) * stride : size * stride), open, plus, minus});
    stride *= size;
  }
}

// In a mesh the last switches of a dimension have no link plus and the first ones none minus: the numbers of the other
// switches close up.
LinkId Torus::link_from(const Dimension& dimension, std::uint32_t at, std::uint32_t high, bool plus,
                        std::uint32_t cable) const {
  std::uint32_t sender = at;
  if (dimension.open) sender -= (plus ? high : high + 1) * dimension.stride.value();
  return (plus ? dimension.plus : dimension.minus) + sender * dimension.width.value() + cable;
}

// The switch that a link between switches leaves.
std::uint32_t Torus::switch_before(const Dimension& dimension, LinkId link) const {
  const bool plus = link < dimension.minus;
  const std::uint32_t sender = dimension.width.quotient(link - (plus ? dimension.plus : dimension.minus));
  if (!dimension.open) return sender;
  const std::uint32_t high = dimension.senders.quotient(sender);
  return sender + (plus ? high : high + 1) * dimension.stride.value();
}

std::uint32_t Torus::extend(const RouteRequest& request, std::uint32_t /*hops*/, LinkId* out,
                            const LinkLoads& /*loads*/) const {
  const std::uint32_t from = hosts_per_switch_.quotient(request.source);
  const std::uint32_t to = hosts_per_switch_.quotient(request.destination);
  std::uint32_t hops = 0;
  out[hops++] = request.source;

  std::array<std::uint32_t, kMostDimensions> here;
  std::array<std::uint32_t, kMostDimensions> there;
  std::array<std::uint32_t, kMostDimensions> high;
  std::uint32_t sum = request.destination - to * hosts_per_switch_.value();
  std::uint32_t rest_from = from;
  std::uint32_t rest_to = to;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const Divisor& size = dimensions_[i].size;
    const std::uint32_t next_from = size.quotient(rest_from);
    const std::uint32_t next_to = size.quotient(rest_to);
    here[i] = rest_from - next_from * size.value();
    there[i] = rest_to - next_to * size.value();
    high[i] = next_from;
    rest_from = next_from;
    rest_to = next_to;
    sum += here[i] + there[i];
  }

  std::uint32_t at = from;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (here[i] == there[i]) continue;
    const Dimension& dimension = dimensions_[i];
    const std::uint32_t size = dimension.size.value();
    const std::uint32_t upward = there[i] > here[i] ? there[i] - here[i] : there[i] + size - here[i];
    const bool half = !dimension.open && 2 * upward == size;
    const bool plus = dimension.open ? there[i] > here[i]
                      : half         ? !balanced_ || (sum + there[i]) % 2 == 0
                                     : 2 * upward < size;
    const auto cable = [&, fixed = dimension.width.remainder(half ? sum / 2 : sum)](std::uint32_t left) {
      return balanced_ ? fixed : dimension.width.remainder(left);
    };
    const std::uint32_t around = (size - 1) * dimension.stride.value();
    std::uint32_t coordinate = here[i];
    for (std::uint32_t left = plus ? upward : size - upward; left > 0; --left) {
      out[hops++] = link_from(dimension, at, high[i], plus, cable(left));
      if (plus) {
        const bool last = coordinate + 1 == size;
        at = last ? at - around : at + dimension.stride.value();
        coordinate = last ? 0 : coordinate + 1;
      } else {
        const bool first = coordinate == 0;
        at = first ? at + around : at - dimension.stride.value();
        coordinate = first ? size - 1 : coordinate - 1;
      }
    }
  }
  out[hops++] = hosts_ + request.destination;
  return hops;
}

std::uint32_t Torus::direction(std::uint32_t source, std::uint32_t destination) const {
  std::array<LinkId, 256> route;
  extend({source, destination, 0}, 0, route.data(), LinkLoads(nullptr, 0));
  if (host_behind(route[1]) != kNoHost) return 0;
  const Dimension& dimension = dimension_of(route[1]);
  return 2 * dimension.number + (route[1] < dimension.minus ? 0 : 1);
}

std::uint32_t Torus::host_behind(LinkId link) const {
  return link >= hosts_ && link - hosts_ < hosts_ ? link - hosts_ : kNoHost;
}

std::vector<std::string> Torus::link_classes() const {
  std::vector<std::string> names{"host-up", "host-down"};
  for (const auto& dimension : dimensions_) {
    names.push_back("dim" + std::to_string(dimension.number) + "-plus");
    names.push_back("dim" + std::to_string(dimension.number) + "-minus");
  }
  return names;
}

std::uint8_t Torus::link_class(LinkId link) const {
  if (link < 2 * hosts_) return link < hosts_ ? 0 : 1;
  std::size_t i = dimensions_.size() - 1;
  while (link < dimensions_[i].plus) --i;
  return static_cast<std::uint8_t>(2 + 2 * i + (link < dimensions_[i].minus ? 0 : 1));
}

const Torus::Dimension& Torus::dimension_of(LinkId link) const {
  std::size_t i = dimensions_.size() - 1;
  while (link < dimensions_[i].plus) --i;
  return dimensions_[i];
}

std::uint32_t Torus::coordinate_before(LinkId link) const {
  const Dimension& dimension = dimension_of(link);
  return dimension.size.remainder(dimension.stride.quotient(switch_before(dimension, link)));
}

std::uint8_t Torus::virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const {
  if (link < 2 * hosts_) return channel;
  if (before < hosts_) return 0;
  if (coordinate_before(link) == 0) return channel ^ 1;
  return dimension_of(link).number == dimension_of(before).number ? channel : 0;
}

std::string Torus::switch_name(std::uint32_t index) const {
  std::string name = "router";
  for (const auto size : shape_) {
    name += "-" + std::to_string(index % size);
    index /= size;
  }
  return name;
}

LinkDescription Torus::describe(LinkId link) const {
  if (link < 2 * hosts_) {
    const std::uint32_t host = link < hosts_ ? link : link - hosts_;
    const std::string host_name = "host-" + std::to_string(host);
    const std::string name = switch_name(hosts_per_switch_.quotient(host));
    if (link < hosts_) return {host_name, name};
    return {name, host_name};
  }
  const Dimension& dimension = dimension_of(link);
  const bool plus = link < dimension.minus;
  const std::uint32_t at = switch_before(dimension, link);
  const std::uint32_t size = dimension.size.value();
  const std::uint32_t stride = dimension.stride.value();
  const std::uint32_t coordinate = at / stride % size;
  const std::uint32_t next = plus ? (coordinate + 1) % size : (coordinate + size - 1) % size;
  return {switch_name(at), switch_name(at - coordinate * stride + next * stride)};
}

}  // namespace manynode::network
