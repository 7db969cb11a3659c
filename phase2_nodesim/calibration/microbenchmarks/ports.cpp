// ports: loads or stores that hit the first-level cache and depend on nothing, of a general register or of a vector
// register. An operation is one of them.
#include <array>
#include <bit>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::int64_t kUnrolled = 4;
constexpr std::size_t kPlaces = 8;

enum Kind { kLoad, kStore, kVectorLoad, kVectorStore };

template <typename Word, bool kStores>
std::uint64_t work(void* memory, std::int64_t turns) {
  auto* places = static_cast<volatile Word*>(memory);
  Word last = 1;
  for (; turns > 0; --turns) {
#pragma GCC unroll 4
    for (std::int64_t turn = 0; turn < kUnrolled; ++turn) {
#pragma GCC unroll 8
      for (std::size_t place = 0; place < kPlaces; ++place) {
        if constexpr (kStores) {
          places[place * 8] = last;
        } else {
          last = places[place * 8];
        }
      }
    }
  }
  return std::bit_cast<std::uint64_t>(last);
}

auto work_of(std::int64_t kind) {
  switch (kind) {
    case kLoad:
      return work<std::uint64_t, false>;
    case kStore:
      return work<std::uint64_t, true>;
    case kVectorLoad:
      return work<double, false>;
    default:
      return work<double, true>;
  }
}

Measured run(const Values& values, const Worker&) {
  // One line each.
  alignas(64) std::array<std::uint64_t, kPlaces * 8> places{};
  places.fill(1);
  const auto per_turn = kUnrolled * static_cast<std::int64_t>(kPlaces);
  const std::int64_t turns = (values["operations"] + per_turn - 1) / per_turn;
  const auto work = work_of(values["kind"]);
  work(places.data(), 2);
  region_begin();
  std::uint64_t check = work(places.data(), turns);
  opaque(check);
  const double seconds = region_end();
  return {turns * per_turn, seconds, check};
}

const Registration ports({
    "ports",
    "independent loads or stores in the first-level cache",
    {{"kind", kLoad, 0, 3, "operation", {"load", "store", "vector-load", "vector-store"}}, operations(1000000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
