// Processor time of a message, piecewise linear in its size.
#pragma once

#include <algorithm>
#include <vector>

#include "run_config.hpp"
#include "sim_time.hpp"

namespace manynode::network {

class Overhead {
 public:
  explicit Overhead(const std::vector<OverheadSegment>& segments) {
    for (const auto& segment : segments) {
      pieces_.push_back(
          {segment.from_bytes, to_picoseconds(segment.seconds), ByteTime::per_byte(segment.seconds_per_byte)});
    }
  }

  // Time of a message of at most most_bytes(): at most two kLongestStep.
  Picoseconds of(std::uint64_t bytes) const {
    const Piece& piece = piece_of(bytes);
    return piece.base + piece.per_byte.of(bytes);
  }

  // Time of any message: beyond kEndOfTime if it is too long.
  Picoseconds of_any(std::uint64_t bytes) const {
    const Piece& piece = piece_of(bytes);
    return piece.base + piece.per_byte.of_any(bytes);
  }

  std::uint64_t most_bytes() const {
    std::uint64_t most = pieces_.front().per_byte.most_bytes();
    for (const Piece& piece : pieces_) most = std::min(most, piece.per_byte.most_bytes());
    return most;
  }

 private:
  struct Piece {
    std::uint64_t from_bytes;
    Picoseconds base;
    ByteTime per_byte;
  };

  const Piece& piece_of(std::uint64_t bytes) const {
    std::size_t piece = pieces_.size() - 1;
    while (bytes < pieces_[piece].from_bytes) --piece;
    return pieces_[piece];
  }

  std::vector<Piece> pieces_;  // the first from 0 bytes
};

}  // namespace manynode::network
