// chase: loads whose address is what the load before returned, over `bytes` of memory, one load per line. An operation
// is one load. With several chains, as many loads are independent of each other at any time.
//
// The order is random within blocks of `block` bytes, and a block is finished before the next one begins: few pages are
// in use at a time, so that misses of caches are seen without those of the TLB. block=0 is one block.
#include <algorithm>
#include <array>
#include <utility>

#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr int kMostChains = 48;
constexpr int kUnrolled = 16;

template <std::size_t Chains>
void follow(Link** places, std::int64_t steps) {
  std::array<Link*, Chains> here;
  std::copy_n(places, Chains, here.begin());
  if constexpr (Chains == 1) {
    Link* place = here[0];
    for (; steps >= kUnrolled; steps -= kUnrolled) {
#pragma GCC unroll 16
      for (int turn = 0; turn < kUnrolled; ++turn) {
        place = place->next;
      }
    }
    here[0] = place;
  }
  for (; steps > 0; --steps) {
#pragma GCC unroll 48
    for (std::size_t chain = 0; chain < Chains; ++chain) {
      here[chain] = here[chain]->next;
    }
  }
  std::copy_n(here.begin(), Chains, places);
}

template <std::size_t... Chains>
constexpr std::array<void (*)(Link**, std::int64_t), sizeof...(Chains)> followers(std::index_sequence<Chains...>) {
  return {follow<Chains + 1>...};
}

Measured run(const Values& values, const Worker& worker) {
  const auto line = static_cast<std::size_t>(values["line"]);
  const auto lines = std::max<std::size_t>(2, static_cast<std::size_t>(values["bytes"]) / line);
  const auto chains = static_cast<std::size_t>(values["chains"]);
  const std::size_t block = values["block"] == 0 ? lines : std::max<std::size_t>(1, values["block"] / line);
  const MemoryBlock memory(lines * line, values["pages"] == 1);
  const std::vector<std::uint32_t> order = random_order(lines, block, static_cast<std::uint64_t>(worker.index));
  std::vector<std::size_t> offsets(lines);
  std::transform(order.begin(), order.end(), offsets.begin(), [line](std::size_t place) { return place * line; });
  link_cycle(memory.data(), offsets);

  std::array<Link*, kMostChains> places{};
  for (std::size_t chain = 0; chain < chains; ++chain) {
    places[chain] = reinterpret_cast<Link*>(memory.data() + offsets[chain * lines / chains]);
  }
  static constexpr auto kFollowers = followers(std::make_index_sequence<kMostChains>());
  const auto follower = kFollowers[chains - 1];
  const auto each = static_cast<std::int64_t>(chains);
  const std::int64_t steps = std::max<std::int64_t>(1, values["operations"] / each);
  // What was touched last before the region is what the chase itself would have touched last.
  const auto round = static_cast<std::int64_t>(lines) / each + 1;
  follower(places.data(), std::min(values["warm"] == 0 ? steps : values["warm"] / each, 2 * round));
  region_begin();
  follower(places.data(), steps);
  const double seconds = region_end();
  std::uint64_t check = 0;
  for (std::size_t chain = 0; chain < chains; ++chain) {
    check += static_cast<std::uint64_t>(reinterpret_cast<char*>(places[chain]) - memory.data());
  }
  return {steps * each, seconds, check, values["pages"] == 1 ? MemoryBlock::large_page_bytes() : 0};
}

const Registration chase({
    "chase",
    "loads that depend on each other, over a range of memory",
    {{"bytes", 32768, 128, std::int64_t{1} << 36, "memory of each worker"},
     {"line", 64, 16, 4096, "bytes from one place to the next"},
     {"block", 0, 0, std::int64_t{1} << 36, "bytes within which the order is random; 0: all"},
     {"chains", 1, 1, kMostChains, "chases at the same time"},
     {"pages", 0, 0, 1, "pages of memory", {"small", "large"}},
     {"warm", 0, 0, std::int64_t{1} << 40, "loads before the region; 0: as many as in it"},
     operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
