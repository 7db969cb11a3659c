// branch: a loop with one conditional branch that goes either way by a bit of a number. The bits are random, or they
// alternate, which every predictor learns. An operation is one such branch. Half of the random ones are mispredicted.
//
// The number is in a register and 64 branches use its bits, so that a branch knows its direction two cycles after it
// entered the core (shift, test).
#include <vector>

#include "manynode/splitmix.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::int64_t kBits = 64;

std::uint64_t work(const std::vector<std::uint64_t>& words) {
  std::uint64_t taken = 0;
  std::uint64_t other = 0;
  for (std::uint64_t word : words) {
    for (std::int64_t bit = 0; bit < kBits; ++bit) {
      if (word & 1) {
        ++taken;
        // Keeps the branch: the compiler may not compute both ways and choose.
        opaque(taken);
      } else {
        ++other;
        opaque(other);
      }
      word >>= 1;
    }
  }
  return taken * 3 + other;
}

Measured run(const Values& values, const Worker& worker) {
  const auto count = static_cast<std::size_t>((values["operations"] + kBits - 1) / kBits);
  std::vector<std::uint64_t> words(count, 0x5555555555555555);
  const std::vector<std::uint64_t> warm(16, 0x5555555555555555);
  if (values["pattern"] == 1) {
    for (std::size_t index = 0; index < count; ++index) {
      // Bits that the region does not repeat.
      words[index] = random_bits(index + (static_cast<std::size_t>(worker.index) << 32));
    }
  }
  std::uint64_t check = work(warm);
  region_begin();
  check += work(words);
  opaque(check);
  const double seconds = region_end();
  return {static_cast<std::int64_t>(count) * kBits, seconds, check};
}

const Registration branch({
    "branch",
    "conditional branches with alternating or random directions",
    {{"pattern", 0, 0, 1, "directions", {"alternating", "random"}}, operations(256000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
