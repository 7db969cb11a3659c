// forward: a word in memory to which one is added again and again: each load waits for the store before it. An
// operation is one load, addition and store. The words are of general or of vector registers (double precision).
#include <bit>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

enum Kind { kGeneral, kVector };

template <typename Word>
std::uint64_t work(void* memory, std::int64_t turns) {
  auto& place = *static_cast<volatile Word*>(memory);
  place = 1;
  Word operand = 1;
  opaque(operand);
  for (; turns > 0; --turns) {
    Word value = place;
    opaque(value);
    value += operand;
    opaque(value);
    place = value;
  }
  return std::bit_cast<std::uint64_t>(Word{place});
}

Measured run(const Values& values, const Worker&) {
  const auto work_of = values["kind"] == kGeneral ? work<std::uint64_t> : work<double>;
  alignas(64) std::uint64_t place = 0;
  void* memory = &place;
  work_of(memory, 2);
  region_begin();
  std::uint64_t check = work_of(memory, values["operations"]);
  opaque(check);
  const double seconds = region_end();
  return {values["operations"], seconds, check};
}

const Registration forward({
    "forward",
    "loads of a word that was just stored",
    {{"kind", kGeneral, 0, 1, "registers", {"general", "vector"}}, operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
