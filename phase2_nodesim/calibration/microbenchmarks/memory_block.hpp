// Memory for measurements, with ordinary or with large pages, and cycles of pointers through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace manynode::calibration {

// Zeroed memory that begins at a boundary of 2 MiB and is taken page by page on first touch.
class MemoryBlock {
 public:
  // `large_pages`: asks the system for pages of 2 MiB, which it may refuse; else it is told not to use them.
  MemoryBlock(std::size_t bytes, bool large_pages);
  ~MemoryBlock();
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;
  char* data() const { return data_; }
  // Memory of the process that is in large pages, as the system says; 0 if it does not say.
  static std::int64_t large_page_bytes();

 private:
  void* mapped_;
  std::size_t mapped_bytes_;
  char* data_;
};

struct Link {
  Link* next;
};

// The places 0 .. count-1 in a random order that visits `block` neighbours completely before it goes on. The same
// arguments give the same order.
std::vector<std::uint32_t> random_order(std::size_t count, std::size_t block, std::uint64_t seed);

// Links the places at `offsets` of `base` to a cycle in that order.
void link_cycle(char* base, const std::vector<std::size_t>& offsets);

}  // namespace manynode::calibration
