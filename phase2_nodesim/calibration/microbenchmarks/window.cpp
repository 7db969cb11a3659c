// window: two chases (chase.cpp) whose loads take turns, with `fillers` instructions that do nothing after each load.
// An operation is one pair of loads. As long as a load, the fillers and the next load fit into the reorder buffer, the
// two loads overlap; with more fillers they follow each other. The step is at the size of the reorder buffer (H. Wong,
// "Measuring Reorder Buffer Capacity", 2013).
//
// nop: instructions without an effect, which some processors fuse in pairs. mixed: compares, which need only flags, and
// moves between vector registers.
#include <array>
#include <utility>

#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr int kStep = 16;
constexpr std::size_t kMostSteps = 48;

template <int kCount>
inline void fill_with_nops() {
  asm volatile(
      ".rept %c0\n\t"
      "nop\n\t"
      ".endr" ::"i"(kCount));
}

template <int kCount>
inline void fill_mixed() {
#if defined(__x86_64__)
  asm volatile(
      ".rept %c0\n\t"
      "cmpq %%rsp, %%rsp\n\t"
      "nop\n\t"
      "cmpq %%rsp, %%rsp\n\t"
      "paddd %%xmm15, %%xmm14\n\t"
      ".endr" ::"i"(kCount / 4)
      : "cc", "xmm14");
#else
  fill_with_nops<kCount>();
#endif
}

template <bool kMixed, std::size_t Steps>
std::uint64_t follow(Link*& first, Link*& second, std::int64_t pairs) {
  constexpr int kCount = static_cast<int>(Steps) * kStep;
  Link* one = first;
  Link* two = second;
  for (; pairs > 0; --pairs) {
    one = one->next;
    kMixed ? fill_mixed<kCount>() : fill_with_nops<kCount>();
    two = two->next;
    kMixed ? fill_mixed<kCount>() : fill_with_nops<kCount>();
  }
  first = one;
  second = two;
  return 0;
}

using Follow = std::uint64_t (*)(Link*&, Link*&, std::int64_t);

template <bool kMixed, std::size_t... Steps>
Follow chosen(std::size_t steps, std::index_sequence<Steps...>) {
  constexpr std::array<Follow, sizeof...(Steps)> kFollow{follow<kMixed, Steps>...};
  return kFollow[steps];
}

Measured run(const Values& values, const Worker& worker) {
  constexpr std::size_t kLine = 64;
  const auto lines = static_cast<std::size_t>(values["bytes"]) / kLine;
  const auto steps = static_cast<std::size_t>(values["fillers"]) / kStep;
  const auto numbers = std::make_index_sequence<kMostSteps + 1>();
  const Follow follow = values["kind"] == 1 ? chosen<true>(steps, numbers) : chosen<false>(steps, numbers);
  const MemoryBlock memory(lines * kLine, values["pages"] == 1);
  const std::vector<std::uint32_t> order = random_order(lines, lines, static_cast<std::uint64_t>(worker.index));
  std::vector<std::size_t> offsets(lines);
  for (std::size_t index = 0; index < lines; ++index) {
    offsets[index] = order[index] * kLine;
  }
  link_cycle(memory.data(), offsets);
  Link* first = reinterpret_cast<Link*>(memory.data() + offsets[0]);
  Link* second = reinterpret_cast<Link*>(memory.data() + offsets[lines / 2]);
  follow(first, second, 16);
  region_begin();
  follow(first, second, values["operations"]);
  const double seconds = region_end();
  return {values["operations"], seconds,
          static_cast<std::uint64_t>(reinterpret_cast<char*>(first) - memory.data()) / kLine};
}

const Registration window({
    "window",
    "two loads that miss, with instructions between them",
    {{"fillers", 0, 0, kStep * static_cast<std::int64_t>(kMostSteps), "instructions between loads, rounded down to 16"},
     {"kind", 0, 0, 1, "what they are", {"nop", "mixed"}},
     {"bytes", 1 << 26, 4096, std::int64_t{1} << 36, "memory of each worker"},
     {"pages", 1, 0, 1, "pages of memory", {"small", "large"}},
     operations(20000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
