// pages: loads that depend on each other, one line in each of `count` pages, in random order. An operation is one load.
// The lines are spread over the sets of a cache, so that a chase over as many lines without gaps (chase) needs the same
// caches and fewer translations.
#include <algorithm>

#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr int kUnrolled = 16;

Link* follow(Link* place, std::int64_t steps) {
  for (; steps >= kUnrolled; steps -= kUnrolled) {
#pragma GCC unroll 16
    for (int turn = 0; turn < kUnrolled; ++turn) {
      place = place->next;
    }
  }
  for (; steps > 0; --steps) {
    place = place->next;
  }
  return place;
}

Measured run(const Values& values, const Worker& worker) {
  const auto count = static_cast<std::size_t>(values["count"]);
  const auto page = static_cast<std::size_t>(values["page"]);
  const auto line = static_cast<std::size_t>(values["line"]);
  const MemoryBlock memory(count * page, false);
  const std::vector<std::uint32_t> order = random_order(count, count, static_cast<std::uint64_t>(worker.index));
  std::vector<std::size_t> offsets(count);
  std::transform(order.begin(), order.end(), offsets.begin(),
                 [=](std::size_t place) { return place * page + place * line % page; });
  link_cycle(memory.data(), offsets);
  Link* place = reinterpret_cast<Link*>(memory.data() + offsets[0]);
  place = follow(place, std::min(values["operations"], static_cast<std::int64_t>(2 * count)));
  region_begin();
  place = follow(place, values["operations"]);
  const double seconds = region_end();
  return {values["operations"], seconds,
          static_cast<std::uint64_t>(reinterpret_cast<char*>(place) - memory.data()) / line};
}

const Registration pages({
    "pages",
    "loads that depend on each other, one in each page",
    {{"count", 64, 2, 1 << 22, "pages of each worker"},
     {"page", 4096, 4096, std::int64_t{1} << 30, "bytes of a page"},
     {"line", 64, 16, 4096, "bytes of a line"},
     operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
