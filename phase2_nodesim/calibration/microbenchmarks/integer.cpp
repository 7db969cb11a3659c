// integer: additions, multiplications or divisions of 64 bits, in `chains` that do not depend on each other. An
// operation is one of them. One chain shows the latency, many the rate. `free` are additions that depend on nothing. A
// division includes an or, which keeps the quotient long.
#include <array>
#include <utility>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

enum Kind { kAdd, kMultiply, kDivide, kFree };
constexpr std::size_t kMostChains = 8;
constexpr std::int64_t kUnrolled = 16;
// Long quotients, because processors divide small numbers faster.
constexpr std::uint64_t kHigh = std::uint64_t{1} << 62;

template <int kKind>
inline void step(std::uint64_t& value, std::uint64_t& operand) {
  if constexpr (kKind == kAdd) {
    value += operand;
  } else if constexpr (kKind == kMultiply) {
    value *= operand;
  } else if constexpr (kKind == kDivide) {
    value = value / operand | kHigh;
  } else {
    // Else one sum would do for all.
    opaque(operand);
    value = operand + 5;
  }
  opaque(value);
}

template <int kKind, std::size_t Chains>
std::uint64_t work(std::int64_t turns, std::uint64_t operand) {
  std::array<std::uint64_t, Chains> values;
  for (std::size_t chain = 0; chain < Chains; ++chain) {
    values[chain] = kHigh + chain;
  }
  for (; turns > 0; --turns) {
#pragma GCC unroll 16
    for (std::int64_t turn = 0; turn < kUnrolled; ++turn) {
#pragma GCC unroll 8
      for (std::size_t chain = 0; chain < Chains; ++chain) {
        step<kKind>(values[chain], operand);
      }
    }
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) {
    sum += value;
  }
  return sum;
}

using Work = std::uint64_t (*)(std::int64_t, std::uint64_t);

template <int kKind, std::size_t... Chains>
Work chosen(std::size_t chains, std::index_sequence<Chains...>) {
  constexpr std::array<Work, sizeof...(Chains)> kWork{work<kKind, Chains + 1>...};
  return kWork[chains - 1];
}

Measured run(const Values& values, const Worker&) {
  const auto chains = static_cast<std::size_t>(values["chains"]);
  const auto numbers = std::make_index_sequence<kMostChains>();
  const Work all[] = {chosen<kAdd>(chains, numbers), chosen<kMultiply>(chains, numbers),
                      chosen<kDivide>(chains, numbers), chosen<kFree>(chains, numbers)};
  const Work work = all[values["kind"]];
  std::uint64_t operand = 0x9e3779b1;
  opaque(operand);
  const std::int64_t per_turn = kUnrolled * values["chains"];
  const std::int64_t turns = (values["operations"] + per_turn - 1) / per_turn;
  work(2, operand);
  region_begin();
  std::uint64_t check = work(turns, operand);
  opaque(check);
  const double seconds = region_end();
  return {turns * per_turn, seconds, check};
}

const Registration integer({
    "integer",
    "integer operations of 64 bits",
    {{"kind", kAdd, 0, 3, "operation", {"add", "multiply", "divide", "free"}},
     {"chains", 1, 1, kMostChains, "chains that do not depend on each other"},
     operations(1000000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
