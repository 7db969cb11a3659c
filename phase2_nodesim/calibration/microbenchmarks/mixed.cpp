// mixed: y += a x over arrays in the first-level cache, one element a turn: two loads, a multiplication, an addition, a
// store, a counter and a jump. Nothing in it waits, and on most cores no kind of unit is short, so that it shows how
// many operations per cycle a core sustains where they compete. An operation is one of six: an addition loads its
// operand or is fused with the multiplication, and the jump with its comparison.
#include <array>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::size_t kElements = 1024;
constexpr std::int64_t kPerTurn = 6;

struct alignas(64) Arrays {
  std::array<double, kElements> x, y;
};

// The loop is within a line of code, whatever the compiler does.
__attribute__((noinline)) void work(Arrays& arrays, std::int64_t rounds, double factor) {
  const double* const x = arrays.x.data();
  double* const y = arrays.y.data();
  for (; rounds > 0; --rounds) {
    std::size_t at = 0;
#if defined(__x86_64__)
    double product;
    asm volatile(
        ".p2align 6\n1:\n"
        "movsd (%[x],%[at],8), %[product]\nmulsd %[factor], %[product]\naddsd (%[y],%[at],8), %[product]\n"
        "movsd %[product], (%[y],%[at],8)\nadd $1, %[at]\ncmp %[end], %[at]\njne 1b\n"
        : [at] "+r"(at), [product] "=&x"(product)
        : [x] "r"(x), [y] "r"(y), [factor] "x"(factor), [end] "r"(kElements)
        : "cc", "memory");
#else
    double product, sum;
    asm volatile(
        ".p2align 6\n1:\n"
        "ldr %d[product], [%[x], %[at], lsl #3]\nldr %d[sum], [%[y], %[at], lsl #3]\n"
        "fmadd %d[sum], %d[product], %d[factor], %d[sum]\nstr %d[sum], [%[y], %[at], lsl #3]\n"
        "add %[at], %[at], #1\ncmp %[at], %[end]\nb.ne 1b\n"
        : [at] "+r"(at), [product] "=&w"(product), [sum] "=&w"(sum)
        : [x] "r"(x), [y] "r"(y), [factor] "w"(factor), [end] "r"(kElements)
        : "cc", "memory");
#endif
  }
}

Measured run(const Values& values, const Worker&) {
  Arrays arrays;
  arrays.x.fill(1);
  arrays.y.fill(1);
  double factor = 1e-9;
  opaque(factor);
  constexpr auto kPerRound = kPerTurn * static_cast<std::int64_t>(kElements);
  const std::int64_t rounds = (values["operations"] + kPerRound - 1) / kPerRound;
  work(arrays, 4, factor);
  region_begin();
  work(arrays, rounds, factor);
  opaque(arrays.y[0]);
  const double seconds = region_end();
  return {rounds * kPerRound, seconds, static_cast<std::uint64_t>(arrays.y[kElements - 1] * 1e9)};
}

const Registration mixed({
    "mixed",
    "loads, arithmetic and stores of arrays in the first-level cache",
    {operations(1000000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
