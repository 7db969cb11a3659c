// transfer: a chain of moves from a general to a vector register and back (`round`), or of loads into a vector register
// and moves from there to the general register with the next address (`load`). An operation is one round.
#include <bit>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

enum Kind { kRound, kLoad };
constexpr std::int64_t kUnrolled = 8;

inline void step(std::uint64_t& value, Kind kind) {
  double vector;
#if defined(__x86_64__)
  if (kind == kRound) {
    asm volatile("movq %1, %0" : "=x"(vector) : "r"(value));
  } else {
    asm volatile("movsd (%1), %0" : "=x"(vector) : "r"(value));
  }
  asm volatile("movq %1, %0" : "=r"(value) : "x"(vector));
#else
  if (kind == kRound) {
    asm volatile("fmov %d0, %1" : "=w"(vector) : "r"(value));
  } else {
    asm volatile("ldr %d0, [%1]" : "=w"(vector) : "r"(value));
  }
  asm volatile("fmov %0, %d1" : "=r"(value) : "w"(vector));
#endif
}

template <Kind kKind>
std::uint64_t work(std::uint64_t value, std::int64_t turns) {
  for (; turns > 0; --turns) {
#pragma GCC unroll 8
    for (std::int64_t turn = 0; turn < kUnrolled; ++turn) {
      step(value, kKind);
    }
  }
  return value;
}

Measured run(const Values& values, const Worker&) {
  // A word that holds its own address.
  std::uint64_t place = 0;
  place = std::bit_cast<std::uint64_t>(&place);
  opaque(place);
  const auto work_of = values["kind"] == kRound ? work<kRound> : work<kLoad>;
  const std::int64_t turns = (values["operations"] + kUnrolled - 1) / kUnrolled;
  const std::uint64_t begin = std::bit_cast<std::uint64_t>(&place);
  work_of(begin, 2);
  region_begin();
  std::uint64_t end = work_of(begin, turns);
  opaque(end);
  const double seconds = region_end();
  return {turns * kUnrolled, seconds, end == begin};
}

const Registration transfer({
    "transfer",
    "moves between general and vector registers, and loads into vector registers",
    {{"kind", kRound, 0, 1, "chain", {"round", "load"}}, operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
