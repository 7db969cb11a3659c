// width: integer additions, loads, floating-point additions and multiplications that do not depend on each other, in
// the ratio 4 : 2 : 1 : 1. No kind of unit is the limit of a balanced core, so that the rate shows how many operations
// enter the core per cycle. An operation is any of them.
#include <array>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::int64_t kUnrolled = 4;
constexpr std::int64_t kPerGroup = 8;

// Variables by name, not arrays: all of them are in registers.
std::uint64_t work(volatile std::uint64_t* place, std::int64_t turns, std::uint64_t operand, double factor) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  double p = 1, q = 1, r = 1, s = 1, t = 1, u = 1, v = 1, w = 1;
  const auto group = [&](std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, double& sum,
                         double& product) __attribute__((always_inline)) {
    a += operand;
    opaque(a);
    (void)place[0];
    b += operand;
    opaque(b);
    sum += factor;
    opaque(sum);
    c += operand;
    opaque(c);
    (void)place[8];
    d += operand;
    opaque(d);
    product *= factor;
    opaque(product);
  };
  for (; turns > 0; --turns) {
    group(a, b, c, d, p, q);
    group(e, f, g, h, r, s);
    group(a, b, c, d, t, u);
    group(e, f, g, h, v, w);
  }
  const double sum = p + q + r + s + t + u + v + w;
  return a + b + c + d + e + f + g + h + (sum > 0 ? 1 : 0);
}

Measured run(const Values& values, const Worker&) {
  alignas(64) std::array<std::uint64_t, 16> places{};
  std::uint64_t operand = 3;
  double factor = 1.0000000123456789;
  opaque(operand);
  opaque(factor);
  const std::int64_t per_turn = kUnrolled * kPerGroup;
  const std::int64_t turns = (values["operations"] + per_turn - 1) / per_turn;
  work(places.data(), 2, operand, factor);
  region_begin();
  std::uint64_t check = work(places.data(), turns, operand, factor);
  opaque(check);
  const double seconds = region_end();
  return {turns * per_turn, seconds, check};
}

const Registration width({
    "width",
    "independent operations of four kinds",
    {operations(1000000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
