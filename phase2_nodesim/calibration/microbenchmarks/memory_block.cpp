#include "memory_block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <new>
#include <numeric>
#include <string>

#include "manynode/splitmix.hpp"

namespace manynode::calibration {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

template <typename Number>
void shuffle(Number* first, std::size_t count, std::uint64_t& state) {
  for (std::size_t left = count; left > 1; --left) {
    std::swap(first[left - 1], first[random_bits(state++) % left]);
  }
}

}  // namespace

MemoryBlock::MemoryBlock(std::size_t bytes, bool large_pages) : mapped_bytes_(bytes + kLargePage) {
  mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) {
    throw std::bad_alloc();
  }
  const auto address = reinterpret_cast<std::uintptr_t>(mapped_);
  data_ = reinterpret_cast<char*>((address + kLargePage - 1) / kLargePage * kLargePage);
  // Advice that a simulator or an old kernel does not know changes nothing.
  (void)madvise(data_, bytes, large_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

std::int64_t MemoryBlock::large_page_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  const std::string key = "AnonHugePages:";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      return std::strtoll(line.c_str() + key.size(), nullptr, 10) * 1024;
    }
  }
  return 0;
}

MemoryBlock::~MemoryBlock() { munmap(mapped_, mapped_bytes_); }

std::vector<std::uint32_t> random_order(std::size_t count, std::size_t block, std::uint64_t seed) {
  std::uint64_t state = seed << 40;
  const std::size_t blocks = (count + block - 1) / block;
  std::vector<std::uint32_t> block_order(blocks);
  std::iota(block_order.begin(), block_order.end(), 0);
  shuffle(block_order.data(), blocks, state);
  std::vector<std::uint32_t> order;
  order.reserve(count);
  for (const std::uint32_t which : block_order) {
    const std::size_t first = which * block;
    const std::size_t size = std::min(block, count - first);
    const std::size_t begin = order.size();
    for (std::size_t place = 0; place < size; ++place) {
      order.push_back(static_cast<std::uint32_t>(first + place));
    }
    shuffle(order.data() + begin, size, state);
  }
  return order;
}

void link_cycle(char* base, const std::vector<std::size_t>& offsets) {
  for (std::size_t index = 0; index < offsets.size(); ++index) {
    auto* here = reinterpret_cast<Link*>(base + offsets[index]);
    here->next = reinterpret_cast<Link*>(base + offsets[(index + 1) % offsets.size()]);
  }
}

}  // namespace manynode::calibration
