// float: scalar operations of double precision in `chains` that do not depend on each other. An operation is one of
// them. One chain shows the latency, many the rate. `mix` alternates chains of additions and of multiplications.
#include <array>
#include <utility>

#include "manynode/error_report.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

enum Kind { kAdd, kMultiply, kMix, kDivide, kFused };
constexpr std::size_t kMostChains = 14;
constexpr std::int64_t kUnrolled = 8;

// Close to 1, with all digits: products stay finite, and no processor takes a short cut.
constexpr double kOperand = 1.0000000123456789;

template <int kKind>
inline void step(double& value, double operand, std::size_t chain) {
  if constexpr (kKind == kAdd) {
    value += operand;
  } else if constexpr (kKind == kMultiply) {
    value *= operand;
  } else if constexpr (kKind == kMix) {
    chain % 2 == 0 ? value += operand : value *= operand;
  } else {
    value /= operand;
  }
  opaque(value);
}

template <int kKind, std::size_t Chains>
double work(std::int64_t turns, double operand) {
  std::array<double, Chains> values;
  for (std::size_t chain = 0; chain < Chains; ++chain) {
    values[chain] = 1.5 + 0.1 * static_cast<double>(chain);
  }
  for (; turns > 0; --turns) {
#pragma GCC unroll 8
    for (std::int64_t turn = 0; turn < kUnrolled; ++turn) {
#pragma GCC unroll 14
      for (std::size_t chain = 0; chain < Chains; ++chain) {
        step<kKind>(values[chain], operand, chain);
      }
    }
  }
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum;
}

using Work = double (*)(std::int64_t, double);

template <int kKind, std::size_t... Chains>
Work chosen(std::size_t chains, std::index_sequence<Chains...>) {
  constexpr std::array<Work, sizeof...(Chains)> kWork{work<kKind, Chains + 1>...};
  return kWork[chains - 1];
}

#if defined(__x86_64__) && !defined(MANYNODE_WITHOUT_AVX)
template <std::size_t Chains>
__attribute__((target("fma"))) double fused(std::int64_t turns, double operand) {
  std::array<double, Chains> values;
  for (std::size_t chain = 0; chain < Chains; ++chain) {
    values[chain] = 1.5 + 0.1 * static_cast<double>(chain);
  }
  for (; turns > 0; --turns) {
#pragma GCC unroll 8
    for (std::int64_t turn = 0; turn < kUnrolled; ++turn) {
#pragma GCC unroll 14
      for (std::size_t chain = 0; chain < Chains; ++chain) {
        values[chain] = __builtin_fma(values[chain], operand, operand);
        asm volatile("" : "+x"(values[chain]));
      }
    }
  }
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum;
}

template <std::size_t... Chains>
Work chosen_fused(std::size_t chains, std::index_sequence<Chains...>) {
  constexpr std::array<Work, sizeof...(Chains)> kWork{fused<Chains + 1>...};
  return kWork[chains - 1];
}

bool has_fused() { return __builtin_cpu_supports("fma"); }
#else
template <std::size_t... Chains>
Work chosen_fused(std::size_t, std::index_sequence<Chains...>) {
  return nullptr;
}
bool has_fused() { return false; }
#endif

Work work_of(std::int64_t kind, std::size_t chains) {
  const auto numbers = std::make_index_sequence<kMostChains>();
  switch (kind) {
    case kAdd:
      return chosen<kAdd>(chains, numbers);
    case kMultiply:
      return chosen<kMultiply>(chains, numbers);
    case kMix:
      return chosen<kMix>(chains, numbers);
    case kDivide:
      return chosen<kDivide>(chains, numbers);
    default:
      if (!has_fused()) {
        throw UserError("no fused multiply-add here", "float: kind", "fused", "a processor and a program with FMA");
      }
      return chosen_fused(chains, numbers);
  }
}

Measured run(const Values& values, const Worker&) {
  const Work work = work_of(values["kind"], static_cast<std::size_t>(values["chains"]));
  double operand = kOperand;
  opaque(operand);
  const std::int64_t per_turn = kUnrolled * values["chains"];
  const std::int64_t turns = (values["operations"] + per_turn - 1) / per_turn;
  work(2, operand);
  region_begin();
  double sum = work(turns, operand);
  opaque(sum);
  const double seconds = region_end();
  // Sums overflow to infinity after enough products, everywhere alike.
  return {turns * per_turn, seconds, sum < 1e9 ? static_cast<std::uint64_t>(sum * 1024) : 0};
}

const Registration floats({
    "float",
    "scalar floating-point operations of double precision",
    {{"kind", kAdd, 0, 4, "operation", {"add", "multiply", "mix", "divide", "fused"}},
     {"chains", 1, 1, kMostChains, "chains that do not depend on each other"},
     operations(1000000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
