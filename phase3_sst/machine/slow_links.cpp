#include "slow_links.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "manynode/error_report.hpp"

namespace manynode::network {
namespace {

class SlowTopology final : public Topology {
 public:
  SlowTopology(std::shared_ptr<const Topology> inner, const std::vector<SlowCable>& cables, const std::string& place)
      : inner_(std::move(inner)), classes_(inner_->link_classes()) {
    for (std::size_t cable = 0; cable < cables.size(); ++cable) {
      slow_down(cables[cable].one, cables[cable].other, cable, place);
      slow_down(cables[cable].other, cables[cable].one, cable, place);
    }
    if (classes_.size() > 256) {
      throw UserError("there are too many slow links", place, std::to_string(cables.size()), "about a hundred",
                      "give their class other values in link_classes");
    }
  }

  std::string kind() const override { return inner_->kind(); }
  std::uint32_t hosts() const override { return inner_->hosts(); }
  std::uint32_t switches() const override { return inner_->switches(); }
  std::uint32_t links() const override { return inner_->links(); }
  std::uint32_t max_hops() const override { return inner_->max_hops(); }
  bool adaptive() const override { return inner_->adaptive(); }
  std::uint32_t extend(const RouteRequest& request, std::uint32_t hops, LinkId* out,
                       const LinkLoads& loads) const override {
    return inner_->extend(request, hops, out, loads);
  }
  std::vector<std::vector<LinkId>> possible_routes(std::uint32_t source, std::uint32_t destination) const override {
    return inner_->possible_routes(source, destination);
  }
  std::uint32_t hops(std::uint32_t source, std::uint32_t destination) const override {
    return inner_->hops(source, destination);
  }
  LinkId link_at(std::uint32_t source, std::uint32_t destination, std::uint32_t place,
                 std::uint32_t hops) const override {
    return inner_->link_at(source, destination, place, hops);
  }
  bool has_directions() const override { return inner_->has_directions(); }
  std::uint32_t direction(std::uint32_t source, std::uint32_t destination) const override {
    return inner_->direction(source, destination);
  }
  std::uint32_t planes() const override { return inner_->planes(); }
  std::uint32_t virtual_channels() const override { return inner_->virtual_channels(); }
  std::uint8_t virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const override {
    return inner_->virtual_channel(before, channel, link);
  }
  std::uint32_t host_behind(LinkId link) const override { return inner_->host_behind(link); }
  std::vector<std::string> link_classes() const override { return classes_; }
  std::uint8_t link_class(LinkId link) const override {
    const auto found = slow_.find(link);
    return found == slow_.end() ? inner_->link_class(link) : found->second;
  }
  LinkDescription describe(LinkId link) const override { return inner_->describe(link); }

 private:
  void slow_down(const std::string& source, const std::string& target, std::size_t cable, const std::string& place) {
    for (LinkId link = 0; link < inner_->links(); ++link) {
      if (slow_.count(link) != 0) continue;
      const LinkDescription ends = inner_->describe(link);
      if (ends.source != source || ends.target != target) continue;
      const std::string name = slow_class(inner_->link_classes()[inner_->link_class(link)], cable);
      const auto known = std::find(classes_.begin(), classes_.end(), name);
      slow_[link] = static_cast<std::uint8_t>(known - classes_.begin());
      if (known == classes_.end()) classes_.push_back(name);
      return;
    }
    const LinkDescription first = inner_->describe(0);
    throw UserError("there is no such link", place, source + " to " + target,
                    "two ends of a cable, such as " + first.source + " and " + first.target,
                    "the table of links of a run (links.parquet) names the ends of every link that was used");
  }

  std::shared_ptr<const Topology> inner_;
  std::vector<std::string> classes_;
  std::unordered_map<LinkId, std::uint8_t> slow_;
};

}  // namespace

std::string slow_class(const std::string& link_class, std::size_t cable) {
  return link_class + "-slow" + std::to_string(cable);
}

std::shared_ptr<const Topology> with_slow_cables(std::shared_ptr<const Topology> topology,
                                                 const std::vector<SlowCable>& cables, const std::string& place) {
  return std::make_shared<SlowTopology>(std::move(topology), cables, place);
}

}  // namespace manynode::network
