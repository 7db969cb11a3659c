// stream: passes over arrays in order. An operation is one element of eight bytes: read sums it, copy writes b = a,
// triad writes a = b + 3 c. `bytes` are those of all arrays of a worker together. They were written in order before,
// and the caches hold their ends: with fewer operations than elements all come from memory.
#include <algorithm>

#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

enum Kernel { kRead, kCopy, kTriad };
constexpr std::int64_t kArrays[] = {1, 2, 3};
// Elements are whole multiples of 1/8, and sums of them are exact.
constexpr double kElement = 0.125;

// Two elements, as every x86-64 and Arm processor can take at a time.
typedef double Pair __attribute__((vector_size(16), may_alias));

double read(const Pair* a, std::int64_t pairs) {
  Pair sums[8] = {};
  std::int64_t index = 0;
  for (; index + 8 <= pairs; index += 8) {
#pragma GCC unroll 8
    for (int part = 0; part < 8; ++part) {
      sums[part] += a[index + part];
    }
  }
  Pair sum = {0, 0};
  for (const Pair& part : sums) {
    sum += part;
  }
  return sum[0] + sum[1];
}

void copy(Pair* to, const Pair* from, std::int64_t pairs) {
  for (std::int64_t index = 0; index < pairs; ++index) {
    to[index] = from[index];
    // The compiler would call memcpy, which may write around the caches.
    asm volatile("" ::: "memory");
  }
}

void triad(Pair* a, const Pair* b, const Pair* c, std::int64_t pairs) {
  for (std::int64_t index = 0; index < pairs; ++index) {
    a[index] = b[index] + 3.0 * c[index];
  }
}

Measured run(const Values& values, const Worker&) {
  const std::int64_t kernel = values["kernel"];
  // A multiple of eight pairs; arrays begin at different sets of a cache.
  const std::int64_t pairs = std::max<std::int64_t>(8, values["bytes"] / kArrays[kernel] / 16 / 8 * 8);
  const std::int64_t gap = 8 * 13;
  const MemoryBlock memory(static_cast<std::size_t>((pairs + gap) * 16 * kArrays[kernel]), values["pages"] == 1);
  Pair* arrays[3];
  for (std::int64_t array = 0; array < kArrays[kernel]; ++array) {
    arrays[array] = reinterpret_cast<Pair*>(memory.data()) + array * (pairs + gap);
    std::fill_n(arrays[array], pairs, Pair{kElement, kElement});
  }
  const std::int64_t wanted = std::max<std::int64_t>(8, values["operations"] / 16 * 8);
  double sum = 0;
  region_begin();
  for (std::int64_t left = wanted; left > 0; left -= pairs) {
    const std::int64_t part = std::min(left, pairs);
    if (kernel == kRead) {
      sum += read(arrays[0], part);
    } else if (kernel == kCopy) {
      copy(arrays[1], arrays[0], part);
    } else {
      triad(arrays[0], arrays[1], arrays[2], part);
    }
    opaque(sum);
  }
  const double seconds = region_end();
  sum += arrays[0][pairs - 1][1] / kElement;
  return {2 * wanted, seconds, static_cast<std::uint64_t>(sum)};
}

const Registration stream({
    "stream",
    "passes over arrays in order",
    {{"kernel", kTriad, 0, 2, "what is done with an element", {"read", "copy", "triad"}},
     {"bytes", 1 << 26, 1024, std::int64_t{1} << 36, "bytes of all arrays of a worker"},
     {"pages", 0, 0, 1, "pages of memory", {"small", "large"}},
     operations(1 << 23)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
