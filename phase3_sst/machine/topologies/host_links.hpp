// The links between hosts and their switches, for topologies that number hosts switch by switch: link h leads from host
// h to its switch, link hosts + h back.
#pragma once

#include <string>

#include "topologies/divisor.hpp"
#include "topology.hpp"

namespace manynode::network {

class HostLinks {
 public:
  HostLinks() = default;
  HostLinks(std::uint32_t hosts, std::uint32_t hosts_per_switch) : hosts_(hosts), per_switch_(hosts_per_switch) {}

  std::uint32_t hosts() const { return hosts_; }
  std::uint32_t per_switch() const { return per_switch_.value(); }
  // The first link that is not one of a host.
  LinkId end() const { return 2 * hosts_; }
  LinkId up(std::uint32_t host) const { return host; }
  LinkId down(std::uint32_t host) const { return hosts_ + host; }
  std::uint32_t switch_of(std::uint32_t host) const { return per_switch_.quotient(host); }
  // The number of a host on its switch.
  std::uint32_t place_of(std::uint32_t host) const { return per_switch_.remainder(host); }
  std::uint32_t host_behind(LinkId link) const {
    return link >= hosts_ && link - hosts_ < hosts_ ? link - hosts_ : kNoHost;
  }
  // `name` gives the name of a switch by its number.
  template <class Name>
  LinkDescription describe(LinkId link, Name name) const {
    const std::uint32_t host = link < hosts_ ? link : link - hosts_;
    const std::string host_name = "host-" + std::to_string(host);
    const std::string switch_name = name(switch_of(host));
    if (link < hosts_) return {host_name, switch_name};
    return {switch_name, host_name};
  }

 private:
  std::uint32_t hosts_{0};
  Divisor per_switch_;
};

}  // namespace manynode::network
