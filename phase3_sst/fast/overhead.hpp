// Processor time of a message by its size: piecewise linear.
#pragma once

#include <vector>

#include "run_config.hpp"
#include "sim_time.hpp"

namespace manynode::fast {

class Overhead {
 public:
  explicit Overhead(const std::vector<OverheadSegment>& segments) {
    for (const auto& segment : segments) {
      pieces_.push_back(
          {segment.from_bytes, to_picoseconds(segment.seconds), ByteTime::per_byte(segment.seconds_per_byte)});
    }
  }

  Picoseconds of(std::uint64_t bytes) const {
    std::size_t piece = pieces_.size() - 1;
    while (bytes < pieces_[piece].from_bytes) --piece;
    return pieces_[piece].base + pieces_[piece].per_byte.of(bytes);
  }

 private:
  struct Piece {
    std::uint64_t from_bytes;
    Picoseconds base;
    ByteTime per_byte;
  };

  std::vector<Piece> pieces_;  // the first from 0 bytes
};

}  // namespace manynode::fast
