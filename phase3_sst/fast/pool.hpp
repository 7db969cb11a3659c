// Records that come and go by the million, addressed by a 32-bit index: a released record is the next to be taken, so
// that memory is what is in use at the busiest moment and nothing is allocated once a run has reached its stride.
#pragma once

#include <cstdint>
#include <vector>

namespace manynode::fast {

inline constexpr std::uint32_t kNone = 0xffffffffu;

template <typename Record>
class Pool {
 public:
  // A record in its initial state. References to records end with the next take().
  std::uint32_t take() {
    if (free_.empty()) {
      records_.emplace_back();
      return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    records_[index] = Record{};
    return index;
  }

  void release(std::uint32_t index) { free_.push_back(index); }

  Record& operator[](std::uint32_t index) { return records_[index]; }
  const Record& operator[](std::uint32_t index) const { return records_[index]; }

  std::size_t in_use() const { return records_.size() - free_.size(); }
  std::size_t capacity() const { return records_.size(); }

 private:
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_;
};

// A queue of records of a pool, chained through their member `next`.
struct Chain {
  std::uint32_t head{kNone};
  std::uint32_t tail{kNone};
};

template <typename Record>
void append(Pool<Record>& pool, Chain& chain, std::uint32_t index) {
  pool[index].next = kNone;
  (chain.head == kNone ? chain.head : pool[chain.tail].next) = index;
  chain.tail = index;
}

// Takes the first record that satisfies `fits` out of the chain; kNone when there is none.
template <typename Record, typename Fits>
std::uint32_t take_first(Pool<Record>& pool, Chain& chain, const Fits& fits) {
  std::uint32_t previous = kNone;
  for (std::uint32_t index = chain.head; index != kNone; previous = index, index = pool[index].next) {
    if (!fits(pool[index])) continue;
    (previous == kNone ? chain.head : pool[previous].next) = pool[index].next;
    if (chain.tail == index) chain.tail = previous;
    return index;
  }
  return kNone;
}

}  // namespace manynode::fast
