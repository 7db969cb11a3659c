#include "topologies/limits.hpp"

#include "manynode/error_report.hpp"

namespace manynode::network {

namespace {

constexpr std::uint64_t kMostHops = 255;

}  // namespace

std::uint32_t fitting(std::uint64_t number, const std::string& kind, const std::string& place) {
  if (number <= static_cast<std::uint64_t>(kMostParts)) return static_cast<std::uint32_t>(number);
  throw UserError("the " + kind + " is too large", place, std::to_string(number) + " hosts, switches or links",
                  "at most " + std::to_string(kMostParts), "choose smaller numbers");
}

void check_hops(std::uint64_t hops, const std::string& kind, const std::string& place) {
  if (hops <= kMostHops) return;
  throw UserError("routes of the " + kind + " are too long", place, std::to_string(hops) + " links",
                  "at most " + std::to_string(kMostHops), "choose fewer levels or a shape nearer to a cube");
}

}  // namespace manynode::network
