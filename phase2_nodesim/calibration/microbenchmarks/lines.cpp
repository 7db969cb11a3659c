// lines: one load of each line of a range of memory, or one store to it, one line after the other, that do not depend
// on each other. An operation is one load or store.
#include <algorithm>
#include <cstring>

#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kUnrolled = 4;

enum Kind { kLoad, kStore };

template <Kind kKind>
std::uint64_t work(char* begin, std::size_t lines, std::int64_t rounds) {
  std::uint64_t last = 0;
  for (; rounds > 0; --rounds) {
    char* at = begin;
    for (std::size_t line = 0; line < lines; line += kUnrolled, at += kUnrolled * kLine) {
#pragma GCC unroll 4
      for (std::size_t place = 0; place < kUnrolled; ++place) {
        auto* const word = reinterpret_cast<volatile std::uint64_t*>(at + place * kLine);
        if constexpr (kKind == kLoad) {
          last = *word;
        } else {
          *word = last;
        }
      }
    }
  }
  return last;
}

Measured run(const Values& values, const Worker&) {
  const std::size_t lines =
      std::max<std::size_t>(1, static_cast<std::size_t>(values["bytes"]) / (kUnrolled * kLine)) * kUnrolled;
  const MemoryBlock memory(lines * kLine, values["pages"] == 1);
  std::memset(memory.data(), 1, lines * kLine);
  const auto each = static_cast<std::int64_t>(lines);
  const std::int64_t rounds = (values["operations"] + each - 1) / each;
  const auto kind = values["kind"] == kLoad ? work<kLoad> : work<kStore>;
  kind(memory.data(), lines, 2);
  region_begin();
  std::uint64_t check = kind(memory.data(), lines, rounds);
  opaque(check);
  const double seconds = region_end();
  return {rounds * each, seconds, check, values["pages"] == 1 ? MemoryBlock::large_page_bytes() : 0};
}

const Registration lines({
    "lines",
    "independent loads of the lines of a range of memory, or stores",
    {{"kind", kLoad, 0, 1, "what is done with a line", {"load", "store"}},
     {"bytes", 262144, 256, std::int64_t{1} << 36, "memory of each worker"},
     {"pages", 0, 0, 1, "pages of memory", {"small", "large"}},
     operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
