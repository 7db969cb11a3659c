#include "topologies/global_cables.hpp"

namespace manynode::network {

GlobalCables::GlobalCables(std::uint32_t groups, std::uint32_t ports) : groups_(groups) {
  if (groups == 1) return;
  others_ = Divisor(groups - 1);
  rounds_ = ports / (groups - 1);
  std::uint32_t further = ports % (groups - 1);
  if (further % 2 == 1 && groups % 2 == 1) --further;
  near_ = further / 2;
  opposite_ = further % 2 == 1;
  ports_ = rounds_ * (groups - 1) + further;
  less_ = Divisor(rounds_);
  more_ = Divisor(rounds_ + 1);
}

std::uint32_t GlobalCables::port(std::uint32_t from, std::uint32_t to, std::uint32_t cable) const {
  const std::uint32_t far = distance(from, to);
  if (cable < rounds_) return cable * others_.value() + far - 1;
  // The extra cables follow, ordered by distance: near, opposite, near on the other side.
  const std::uint32_t first = rounds_ * others_.value();
  if (far <= near_) return first + far - 1;
  if (2 * far == groups_) return first + near_;
  return ports_ - (groups_ - far);
}

GlobalCables::Port GlobalCables::other_end(std::uint32_t group, std::uint32_t port) const {
  std::uint32_t cable = others_.quotient(port);
  std::uint32_t far = port - cable * others_.value() + 1;
  if (cable >= rounds_) {
    cable = rounds_;
    const std::uint32_t index = port - rounds_ * others_.value();
    far = index < near_ ? index + 1 : opposite_ && index == near_ ? groups_ / 2 : groups_ - (ports_ - port);
  }
  const std::uint32_t peer = group + far < groups_ ? group + far : group + far - groups_;
  return {peer, this->port(peer, group, cable)};
}

}  // namespace manynode::network
