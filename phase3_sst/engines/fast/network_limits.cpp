// Limits of the network's integers: the longest message, the total bytes, the time of a link.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "end_of_time.hpp"
#include "manynode/error_report.hpp"
#include "network.hpp"
#include "simulation_error.hpp"

namespace manynode::network {

namespace {

// Limit of any message; sizes and their sums are far below 64 bits.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

// Tables store bytes as signed integers.
constexpr std::uint64_t kMostInAll = std::uint64_t{1} << 62;

}  // namespace

// The number of chunks and their bytes have 32 bits each; bytes in buffers of flow control have 31.
std::uint64_t Network::most_message_bytes() const {
  std::uint64_t chunk = fabric_ ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
  chunk = std::min(chunk, nic_time_.most_bytes());
  for (const LinkClass& link_class : classes_) chunk = std::min(chunk, link_class.time.most_bytes());
  if (chunk < chunk_bytes_) return chunk;
  std::uint64_t most = most_chunks_ * chunk;
  if (most_chunk_bytes_ <= chunk) most = most_chunk_bytes_ * std::numeric_limits<std::uint32_t>::max();
  // A receiving processor is busy with a whole message.
  if (config_.host.receive == Receive::OnArrival) most = std::min(most, nic_time_.most_bytes());
  return std::min(most, kMostBytes);
}

std::uint64_t Network::most_intranode_message_bytes() const {
  return std::min(intranode_time_.most_bytes(), kMostBytes);
}

std::uint64_t Network::most_bytes_in_all() const { return kMostInAll / std::max(1u, topology_.max_hops()); }

void Network::check_length(const Message& message) const {
  const bool within = message.from_nic == message.to_nic;
  const std::uint64_t most = within ? most_intranode_bytes_ : most_bytes_;
  if (message.bytes <= most) return;
  const KeyValue slowest =
      within ? KeyValue{"network.intranode.bandwidth", config_.intranode.bandwidth_Bps} : slowest_bandwidth(config_);
  throw UserError("a message is too long for the engine", slowest.key,
                  std::to_string(message.bytes) + " bytes, " + rounded(slowest.value) + " B/s",
                  "at most " + std::to_string(most) + " bytes at this bandwidth: nothing may keep a link, a NIC or a " +
                      "processor for more than " + rounded(kLongestStep_s) + " s, and bytes are counted in 64 bits",
                  "raise " + slowest.key + ", or send shorter messages");
}

void Network::refuse_count(const LinkUse& use) const {
  const LinkDescription ends = topology_.describe(static_cast<LinkId>(&use - links_.data()));
  throw SimulationError("the times of the chunks on a link add up to more than 64 bits hold",
                        {"link from " + ends.source + " to " + ends.target + ": " + std::to_string(use.chunks) +
                         " chunks so far, which took or waited more than 9.2e+06 s together"},
                        "send fewer or shorter messages over this link, or raise its bandwidth");
}

}  // namespace manynode::network
