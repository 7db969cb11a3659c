// Millions of short-lived records, addressed by a 32-bit index. A released record is the next to be taken: memory stays
// at the peak number in use, and a run soon stops allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fetch_ahead.hpp"

namespace manynode::network {

inline constexpr std::uint32_t kNone = 0xffffffffu;

template <typename Record>
class Pool {
 public:
  // A record in its initial state. References to records are valid until the next take().
  std::uint32_t take() {
    if (free_.empty()) {
      records_.emplace_back();
      return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    // A burst of sends takes records one after the other.
    if (free_.size() >= kAhead) fetch_ahead(&records_[free_[free_.size() - kAhead]]);
    records_[index] = Record{};
    return index;
  }

  void release(std::uint32_t index) {
    records_[index].in_use = false;
    free_.push_back(index);
  }

  Record& operator[](std::uint32_t index) { return records_[index]; }
  const Record& operator[](std::uint32_t index) const { return records_[index]; }

  std::size_t capacity() const { return records_.size(); }

 private:
  static constexpr std::size_t kAhead = 10;

  std::vector<Record> records_;
  std::vector<std::uint32_t> free_;
};

}  // namespace manynode::network
