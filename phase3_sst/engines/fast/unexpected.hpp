// The unexpected messages of a rank (arrived without a matching receive), in order of arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "envelope.hpp"
#include "fetch_ahead.hpp"
#include "pool.hpp"

namespace manynode::network {

class UnexpectedMessages {
 public:
  struct Entry {
    Envelope envelope;
    std::uint32_t message;
  };

  const Entry* begin() const { return entries_.data() + begin_; }
  const Entry* end() const { return entries_.data() + entries_.size(); }

  // Prefetches the first messages.
  void fetch() const { fetch_lines_ahead(begin(), 4); }

  void add(const Envelope& envelope, std::uint32_t message) {
    if (begin_ == entries_.size()) {
      entries_.clear();
      begin_ = 0;
    }
    entries_.push_back({envelope, message});
  }

  // Removes the first message that `receive` takes and returns it, or kNone.
  std::uint32_t take(const Envelope& receive) {
    for (std::size_t i = begin_; i < entries_.size(); ++i) {
      if (!receive.takes(entries_[i].envelope)) continue;
      const std::uint32_t message = entries_[i].message;
      close_gap(i);
      return message;
    }
    return kNone;
  }

 private:
  // Moves the shorter side, because receives are mostly posted in the order of their messages.
  void close_gap(std::size_t place) {
    if (place - begin_ < entries_.size() - place) {
      for (std::size_t i = place; i > begin_; --i) entries_[i] = entries_[i - 1];
      ++begin_;
    } else {
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }

  std::vector<Entry> entries_;
  std::uint32_t begin_{0};
};

}  // namespace manynode::network
