// The links of a dragonfly: their classes, channels and ends.
#include "topologies/dragonfly.hpp"

namespace manynode::network {

std::uint32_t Dragonfly::host_behind(LinkId link) const {
  return link >= hosts_ && link - hosts_ < hosts_ ? link - hosts_ : kNoHost;
}

std::uint8_t Dragonfly::link_class(LinkId link) const {
  if (link < 2 * hosts_) return link < hosts_ ? 0 : 1;
  return link < global_ ? 2 : 3;
}

std::uint8_t Dragonfly::virtual_channel(LinkId before, std::uint8_t channel, LinkId link) const {
  const bool from_other_group = before >= global_;
  const bool second_local = before >= local_ && link >= local_ && link < global_;
  return from_other_group || second_local ? static_cast<std::uint8_t>(channel + 1) : channel;
}

LinkDescription Dragonfly::describe(LinkId link) const {
  const auto name = [](std::uint32_t group, std::uint32_t router) {
    return "router-" + std::to_string(group) + "-" + std::to_string(router);
  };
  if (link < 2 * hosts_) {
    const std::uint32_t host = link < hosts_ ? link : link - hosts_;
    const std::uint32_t router = hosts_per_router_.quotient(host);
    const std::string host_name = "host-" + std::to_string(host);
    const std::string router_name = name(router / routers_, router % routers_);
    if (link < hosts_) return {host_name, router_name};
    return {router_name, host_name};
  }
  if (link < global_) {
    const std::uint32_t pair = local_links_.quotient(link - local_);
    const std::uint32_t from = pair / (routers_ - 1);
    const std::uint32_t other = pair % (routers_ - 1);
    const std::uint32_t to = other < from % routers_ ? other : other + 1;
    return {name(from / routers_, from % routers_), name(from / routers_, to)};
  }
  const std::uint32_t group = (link - global_) / cables_.ports();
  const std::uint32_t port = (link - global_) % cables_.ports();
  const auto end = cables_.other_end(group, port);
  return {name(group, router_of_port(port)), name(end.group, router_of_port(end.port))};
}

}  // namespace manynode::network
