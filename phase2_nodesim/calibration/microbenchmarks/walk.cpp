// walk: loads whose address is what the load before returned, as in chase.cpp, but in an order that prefetchers learn.
// An operation is one load. All loads are one instruction. Pages of 4 KiB come in a random order, each read upwards.
//
// even: places `step` lines apart. Prefetchers of all kinds follow; a next-line one needs `step` 1, a stride one not.
// uneven: 1 to 3 lines apart at random, never twice the same. A prefetcher of streams follows, one of strides does not.
// pairs: two lines of 128 bytes, then two others anywhere. Only the line beside one that missed can be known.
#include <algorithm>

#include "manynode/splitmix.hpp"
#include "memory_block.hpp"
#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kLinesOfPage = kPage / kLine;
enum Order { kEven, kUneven, kPairs };

Link* follow(Link* place, std::int64_t steps) {
  // One load instruction: a prefetcher of strides tells instructions apart.
#pragma GCC unroll 1
  for (; steps > 0; --steps) {
    place = place->next;
  }
  return place;
}

// Where the loads of each page are, as bytes from its begin.
std::vector<std::size_t> places_of_page(Order order, std::size_t step, std::uint64_t& state) {
  std::vector<std::size_t> places;
  std::size_t gap = step;
  for (std::size_t line = 0; line < kLinesOfPage; line += gap) {
    places.push_back(line * kLine);
    if (order == kUneven) {
      // One of the two gaps that are not the last one.
      gap = 1 + (gap + random_bits(state++) % 2) % 3;
    }
  }
  return places;
}

std::vector<std::size_t> offsets_of(Order order, std::size_t bytes, std::size_t step, std::uint64_t seed) {
  std::vector<std::size_t> offsets;
  std::uint64_t state = seed << 40;
  if (order == kPairs) {
    for (const std::uint32_t pair : random_order(bytes / (2 * kLine), bytes / (2 * kLine), seed)) {
      offsets.push_back(pair * 2 * kLine);
      offsets.push_back(pair * 2 * kLine + kLine);
    }
    return offsets;
  }
  for (const std::uint32_t page : random_order(bytes / kPage, bytes / kPage, seed)) {
    for (const std::size_t place : places_of_page(order, step, state)) {
      offsets.push_back(page * kPage + place);
    }
  }
  return offsets;
}

Measured run(const Values& values, const Worker& worker) {
  const auto bytes = static_cast<std::size_t>(values["bytes"]) / kPage * kPage;
  const MemoryBlock memory(bytes, values["pages"] == 1);
  const std::vector<std::size_t> offsets =
      offsets_of(static_cast<Order>(values["order"]), bytes, static_cast<std::size_t>(values["step"]),
                 static_cast<std::uint64_t>(worker.index));
  link_cycle(memory.data(), offsets);
  Link* place = reinterpret_cast<Link*>(memory.data() + offsets[0]);
  place = follow(place, std::min<std::int64_t>(values["operations"], 2 * static_cast<std::int64_t>(offsets.size())));
  region_begin();
  place = follow(place, values["operations"]);
  const double seconds = region_end();
  const auto check = static_cast<std::uint64_t>(reinterpret_cast<char*>(place) - memory.data());
  return {values["operations"], seconds, check, values["pages"] == 1 ? MemoryBlock::large_page_bytes() : 0};
}

const Registration walk({
    "walk",
    "loads that depend on each other, upwards through pages",
    {{"bytes", 1 << 20, kPage, std::int64_t{1} << 36, "memory of each worker, rounded down to 4 KiB"},
     {"order", 0, 0, 2, "which lines of a page", {"even", "uneven", "pairs"}},
     {"step", 1, 1, kLinesOfPage, "lines from one place to the next, in an even order"},
     {"pages", 0, 0, 1, "pages of memory", {"small", "large"}},
     operations(100000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
