// window: two chases (chase.cpp) whose loads take turns, with `fillers` instructions that do nothing after each load.
// An operation is one pair of loads. As long as a load, the fillers and the next load fit into the reorder buffer, the
// two loads overlap; with more fillers they follow each other. The step is at the size of the reorder buffer (H. Wong,
// "Measuring Reorder Buffer Capacity", 2013), or of a smaller queue that the fillers wait in.
//
// nop: instructions without an effect, which some processors fuse in pairs. mixed: compares, which need only flags, and
// moves between vector registers. dependent: sums of what the load before returns, which wait in the scheduler.
// load, store: of one word in the first level; they stay in their queue until the load before them has retired.
#include <array>
#include <utility>

#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr int kStep = 16;
constexpr std::size_t kMostSteps = 48;

enum Filler { kNop, kMixed, kDependent, kLoad, kStore };

#define MANYNODE_REPEATED(instructions) ".rept %c[count]\n\t" instructions "\n\t.endr"
#if defined(__x86_64__)
#define MANYNODE_SUM "leaq (%[loaded], %[loaded]), %[sum]"
#define MANYNODE_LOAD "movq %[word], %[read]"
#define MANYNODE_STORE "movq %%rsp, %[word]"
#elif defined(__aarch64__)
#define MANYNODE_SUM "add %[sum], %[loaded], %[loaded]"
#define MANYNODE_LOAD "ldr %[read], %[word]"
#define MANYNODE_STORE "str xzr, %[word]"
#else  // not known here: fillers of these kinds are no choice
#define MANYNODE_SUM "nop"
#define MANYNODE_LOAD "nop"
#define MANYNODE_STORE "nop"
#define MANYNODE_ONLY_NOPS
#endif

template <Filler kFiller, int kCount>
inline void fill([[maybe_unused]] Link* loaded) {
  [[maybe_unused]] static std::uint64_t word;
  if constexpr (kFiller == kDependent) {
    std::uint64_t sum;
    asm volatile(MANYNODE_REPEATED(MANYNODE_SUM) : [sum] "=r"(sum) : [loaded] "r"(loaded), [count] "i"(kCount));
  } else if constexpr (kFiller == kLoad) {
    std::uint64_t read;
    asm volatile(MANYNODE_REPEATED(MANYNODE_LOAD) : [read] "=r"(read) : [word] "m"(word), [count] "i"(kCount));
  } else if constexpr (kFiller == kStore) {
    asm volatile(MANYNODE_REPEATED(MANYNODE_STORE) : [word] "=m"(word) : [count] "i"(kCount));
  } else {
#if defined(__x86_64__)
    if constexpr (kFiller == kMixed) {
      asm volatile(MANYNODE_REPEATED("cmpq %%rsp, %%rsp\n\tnop\n\tcmpq %%rsp, %%rsp\n\tpaddd %%xmm15, %%xmm14")
                   : /* nothing */
                   : [count] "i"(kCount / 4)
                   : "cc", "xmm14");
      return;
    }
#endif
    asm volatile(MANYNODE_REPEATED("nop") : : [count] "i"(kCount));
  }
}

template <Filler kFiller, std::size_t Steps>
void follow(Link*& first, Link*& second, std::int64_t pairs) {
  constexpr int kCount = static_cast<int>(Steps) * kStep;
  Link* one = first;
  Link* two = second;
  for (; pairs > 0; --pairs) {
    one = one->next;
    fill<kFiller, kCount>(one);
    two = two->next;
    fill<kFiller, kCount>(two);
  }
  first = one;
  second = two;
}

using Follow = void (*)(Link*&, Link*&, std::int64_t);

template <std::size_t... Steps>
Follow chosen(Filler filler, std::size_t steps, std::index_sequence<Steps...>) {
  constexpr std::array<std::array<Follow, sizeof...(Steps)>, 5> kFollow{{{follow<kNop, Steps>...},
                                                                         {follow<kMixed, Steps>...},
                                                                         {follow<kDependent, Steps>...},
                                                                         {follow<kLoad, Steps>...},
                                                                         {follow<kStore, Steps>...}}};
  return kFollow[filler][steps];
}

Measured run(const Values& values, const Worker& worker) {
  constexpr std::size_t kLine = 64;
  const auto lines = static_cast<std::size_t>(values["bytes"]) / kLine;
  const auto steps = static_cast<std::size_t>(values["fillers"]) / kStep;
  const Follow follow = chosen(static_cast<Filler>(values["kind"]), steps, std::make_index_sequence<kMostSteps + 1>());
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
#if defined(MANYNODE_ONLY_NOPS)
     {"kind", 0, 0, 0, "what they are", {"nop"}},
#else
     {"kind", 0, 0, 4, "what they are", {"nop", "mixed", "dependent", "load", "store"}},
#endif
     {"bytes", 1 << 26, 4096, std::int64_t{1} << 36, "memory of each worker"},
     {"pages", 1, 0, 1, "pages of memory", {"small", "large"}},
     operations(20000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
