// Prefetcher of one cache: learns from misses and from the first use of lines that it fetched, and names lines to
// fetch.
#pragma once

#include <array>
#include <cstdint>

#include "settings.hpp"

namespace manynode::node {

class Prefetcher {
 public:
  static constexpr int kMost = 4;
  using Lines = std::array<std::uint64_t, kMost>;

  // `lines_per_page` is a power of two: no prefetch crosses a page, whose neighbour may be anywhere.
  Prefetcher(Prefetch kind, std::uint64_t lines_per_page) : kind_(kind), in_page_(lines_per_page - 1) {}

  bool learns() const { return kind_ != Prefetch::kNone; }
  // Learns that the instruction at `code` asked for `line`; returns how many lines of `lines` to fetch.
  int learn(std::uint64_t code, std::uint64_t line, Lines& lines) {
    switch (kind_) {
      case Prefetch::kNone:
        return 0;
      case Prefetch::kNextLine:
        if ((line & in_page_) == in_page_) return 0;
        lines[0] = line + 1;
        return 1;
      case Prefetch::kStride:
        return stride(code, line, lines);
      case Prefetch::kStream:
        return stream(line, lines);
    }
    return 0;
  }
  // The line last named and all after it were not fetched: no buffer was free. A stream names them again.
  void dropped(std::uint64_t line) {
    if (kind_ == Prefetch::kStream) current_->ahead = current_->steps > 0 ? line - 1 : line + 1;
  }

 private:
  // One stride per load instruction; two equal ones in a row are followed, two steps ahead.
  int stride(std::uint64_t code, std::uint64_t line, Lines& lines) {
    Stride& entry = strides_[(code ^ code >> 8) % strides_.size()];
    const auto step = static_cast<std::int64_t>(line - entry.line);
    if (entry.code != code) {
      entry = {code, line, 0, 0};
      return 0;
    }
    if (step == 0) return 0;
    entry.sure = step == entry.step ? entry.sure + 1 : 0;
    entry.step = step;
    entry.line = line;
    int count = 0;
    for (int ahead = 1; entry.sure >= 1 && ahead <= 2; ++ahead) {
      const std::uint64_t wanted = line + static_cast<std::uint64_t>(step * ahead);
      if ((wanted & ~in_page_) == (line & ~in_page_)) lines[count++] = wanted;
    }
    return count;
  }

  // Streams inside a page, up or down: after two steps in one direction, the next lines up to kDistance ahead.
  int stream(std::uint64_t line, Lines& lines) {
    const std::uint64_t page = line & ~in_page_;
    Stream* entry = nullptr;
    Stream* oldest = &streams_[0];
    for (Stream& candidate : streams_) {
      if (candidate.page == page) entry = &candidate;
      if (candidate.used < oldest->used) oldest = &candidate;
    }
    ++clock_;
    if (entry == nullptr) {
      *oldest = {page, line, line, 0, clock_};
      return 0;
    }
    entry->used = clock_;
    current_ = entry;
    const int direction = line > entry->last ? 1 : line < entry->last ? -1 : 0;
    if (direction == 0) return 0;
    if (direction * entry->steps < 0) {
      entry->steps = 0;
      entry->ahead = line;
    }
    entry->steps += direction;
    entry->last = line;
    if (entry->steps * direction < 2) {
      entry->ahead = line;
      return 0;
    }
    int count = 0;
    std::uint64_t wanted = entry->ahead;
    if (direction > 0 ? wanted < line : wanted > line) wanted = line;
    while (count < kMost) {
      wanted += static_cast<std::uint64_t>(direction);
      const std::uint64_t distance = direction > 0 ? wanted - line : line - wanted;
      if ((wanted & ~in_page_) != page || distance > kDistance) break;
      lines[count++] = wanted;
      entry->ahead = wanted;
    }
    return count;
  }

  static constexpr std::uint64_t kDistance = 16;
  struct Stride {
    std::uint64_t code = 0, line = 0;
    std::int64_t step = 0;
    int sure = 0;
  };
  struct Stream {
    std::uint64_t page = ~std::uint64_t{0}, last = 0, ahead = 0;
    int steps = 0;
    std::uint64_t used = 0;
  };

  Prefetch kind_;
  std::uint64_t in_page_;
  std::array<Stride, 256> strides_{};
  std::array<Stream, 32> streams_{};
  Stream* current_ = nullptr;  // of the lines named last
  std::uint64_t clock_ = 0;
};

}  // namespace manynode::node
