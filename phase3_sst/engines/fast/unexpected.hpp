// The messages that have come to a rank and met no receive, in the order of arrival.
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

  // The first of them, from memory.
  void fetch() const { fetch_lines_ahead(begin(), 4); }

  void add(const Envelope& envelope, std::uint32_t message) {
    if (begin_ == entries_.size()) {
      entries_.clear();
      begin_ = 0;
    }
    entries_.push_back({envelope, message});
  }

  // Takes out the first that `receive` takes; kNone when there is none.
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
  // From the nearer end, because receives are mostly posted in the order in which their messages came.
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
