#include "topologies/fat_tree.hpp"

#include "manynode/error_report.hpp"
#include "strict_json.hpp"

namespace manynode::fast {

namespace {

constexpr std::uint64_t kMost = 0x7fffffff;

std::shared_ptr<const Topology> make_fat_tree(const nlohmann::json& topology, const std::string& place) {
  StrictObject object(topology, place);
  object.text("kind");
  const auto children = object.integers("children", 1, kMost);
  const auto parents = object.integers("parents", 1, kMost);
  const auto parallel = object.integers("parallel_links", 1, kMost);
  object.finish();
  return std::make_shared<FatTree>(children, parents, parallel, place);
}

const TopologyRegistration registration("fat-tree", make_fat_tree);

}  // namespace

FatTree::FatTree(const std::vector<std::int64_t>& children, const std::vector<std::int64_t>& parents,
                 const std::vector<std::int64_t>& parallel_links, const std::string& place) {
  if (children.empty() || parents.size() != children.size() || parallel_links.size() != children.size()) {
    throw UserError("the lists of a fat-tree differ in length", place,
                    "children: " + std::to_string(children.size()) + ", parents: " + std::to_string(parents.size()) +
                        ", parallel_links: " + std::to_string(parallel_links.size()),
                    "three lists with one entry per level", "give each list one entry per level");
  }
  const auto fitting = [&](std::uint64_t number) {
    if (number <= kMost) return static_cast<std::uint32_t>(number);
    throw UserError("the fat-tree is too large", place, std::to_string(number) + " hosts, nodes or links",
                    "at most 2147483647", "make the lists shorter or their entries smaller");
  };
  for (const auto count : children) hosts_ = fitting(std::uint64_t{hosts_} * static_cast<std::uint64_t>(count));

  std::uint32_t below_children = 1;
  std::uint32_t below_parents = 1;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const auto m = static_cast<std::uint32_t>(children[i]);
    const auto w = static_cast<std::uint32_t>(parents[i]);
    const auto p = static_cast<std::uint32_t>(parallel_links[i]);
    const std::uint32_t lower_nodes = fitting(std::uint64_t{below_parents} * (hosts_ / below_children));
    const std::uint32_t ports = fitting(std::uint64_t{w} * p);
    const std::uint32_t cables = fitting(std::uint64_t{lower_nodes} * ports);
    const LinkId up = links_;
    const LinkId down = fitting(std::uint64_t{up} + cables);
    links_ = fitting(std::uint64_t{down} + cables);
    levels_.push_back({w, ports, p, below_children, below_parents, below_children * m, m, up, down});
    below_children *= m;
    below_parents = fitting(std::uint64_t{below_parents} * w);
    switches_ = fitting(std::uint64_t{switches_} + std::uint64_t{below_parents} * (hosts_ / below_children));
  }
}

std::uint32_t FatTree::extend(const RouteRequest& request, std::uint32_t /*hops*/, LinkId* out,
                              const LinkLoads& /*loads*/) const {
  const std::uint32_t source = request.source;
  const std::uint32_t destination = request.destination;
  // The node of level l on the way has the index low + W_l * (host / M_l): `low` are its digits up to l.
  std::uint32_t low = 0;
  std::uint32_t hops = 0;
  std::size_t top = 0;
  do {
    const Level& level = levels_[top];
    const std::uint32_t lower = low + level.below_parents * (source / level.below_children);
    const std::uint32_t port = destination / level.below_parents % level.ports;
    const std::uint32_t parent = port % level.parents;
    out[hops++] = level.up + (lower * level.parents + parent) * level.parallel + port / level.parents;
    low += level.below_parents * parent;
    ++top;
  } while (source / levels_[top - 1].hosts_under != destination / levels_[top - 1].hosts_under);

  while (top-- > 0) {
    const Level& level = levels_[top];
    const std::uint32_t parent = low / level.below_parents;
    low %= level.below_parents;
    const std::uint32_t lower = low + level.below_parents * (destination / level.below_children);
    const std::uint32_t port = destination / level.below_parents % level.ports;
    out[hops++] = level.down + (lower * level.parents + parent) * level.parallel + port / level.parents;
  }
  return hops;
}

std::uint32_t FatTree::hops(std::uint32_t source, std::uint32_t destination) const {
  std::uint32_t top = 0;
  while (source / levels_[top].hosts_under != destination / levels_[top].hosts_under) ++top;
  return 2 * (top + 1);
}

LinkId FatTree::link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                        std::uint32_t hops) const {
  const bool up = 2 * place < hops;
  const std::uint32_t lower_level = up ? place : hops - 1 - place;
  std::uint32_t low = 0;
  for (std::uint32_t below = 0; below < lower_level; ++below) {
    const Level& level = levels_[below];
    low += level.below_parents * (destination / level.below_parents % level.ports % level.parents);
  }
  const Level& level = levels_[lower_level];
  const std::uint32_t lower = low + level.below_parents * ((up ? source : destination) / level.below_children);
  const std::uint32_t port = destination / level.below_parents % level.ports;
  return (up ? level.up : level.down) + (lower * level.parents + port % level.parents) * level.parallel +
         port / level.parents;
}

std::string FatTree::node_name(std::size_t level, std::uint32_t index) const {
  if (level == 0) return "host-" + std::to_string(index);
  if (level == 1) return "leaf-" + std::to_string(index);
  return "level" + std::to_string(level) + "-" + std::to_string(index);
}

LinkDescription FatTree::describe(LinkId link) const {
  std::size_t lower_level = levels_.size() - 1;
  while (link < levels_[lower_level].up) --lower_level;
  const Level& level = levels_[lower_level];
  const bool up = link < level.down;
  const std::uint32_t cable = (link - (up ? level.up : level.down)) / level.parallel;
  const std::uint32_t lower = cable / level.parents;
  const std::uint32_t parent = cable % level.parents;
  // The parent keeps the digits up to the lower level, gets its own next digit, and keeps the digits above.
  const std::uint32_t low = lower % level.below_parents + level.below_parents * parent;
  const std::uint32_t above = lower / level.below_parents / level.children;
  const std::uint32_t upper = low + level.below_parents * level.parents * above;

  const std::string lower_name = node_name(lower_level, lower);
  const std::string upper_name = node_name(lower_level + 1, upper);
  if (up) return {lower_name, upper_name};
  return {upper_name, lower_name};
}

std::uint32_t FatTree::host_behind(LinkId link) const {
  const Level& level = levels_.front();
  if (link < level.down || link - level.down >= level.down - level.up) return kNoHost;
  return (link - level.down) / level.ports;
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
  std::size_t level = levels_.size() - 1;
  while (link < levels_[level].up) --level;
  return static_cast<std::uint8_t>(2 * level + (link < levels_[level].down ? 0 : 1));
}

std::uint64_t FatTree::bisection_links() const {
  // The halves are whole subtrees of the top level, or lie in one of them where the top has an odd number of children.
  const Level& top = levels_.back();
  return std::uint64_t{top.down - top.up} / 2;
}

}  // namespace manynode::fast
