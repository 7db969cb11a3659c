// The rate at which a rank combines or copies buffers: one for all sizes, or one per range of sizes, because small
// buffers lie in caches and large ones do not.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim_time.hpp"

namespace manynode::network {

struct BandwidthSegment {
  std::uint64_t from_bytes{0};
  double bandwidth_Bps{1e10};
};

class BandwidthBySize {
 public:
  // Implicit: a number is the rate of all sizes.
  BandwidthBySize(double everywhere_Bps) : segments_{{0, everywhere_Bps}} {}
  // Sorted, the first from 0 bytes.
  explicit BandwidthBySize(std::vector<BandwidthSegment> segments) : segments_(std::move(segments)) {}

  // Of buffers of this size.
  double of(std::uint64_t bytes) const {
    std::size_t segment = segments_.size() - 1;
    while (bytes < segments_[segment].from_bytes) --segment;
    return segments_[segment].bandwidth_Bps;
  }

  // Time of any number of bytes: kBeyondTime if they take longer.
  Picoseconds time(std::uint64_t bytes) const { return ByteTime::of_bandwidth(of(bytes)).of_any(bytes); }

 private:
  std::vector<BandwidthSegment> segments_;
};

}  // namespace manynode::network
