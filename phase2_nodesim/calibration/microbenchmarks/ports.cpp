// ports: loads or stores that hit the first-level cache and depend on nothing. An operation is one of them.
#include <array>

#include "microbenchmark.hpp"
#include "workers.hpp"

namespace manynode::calibration {
namespace {

constexpr std::int64_t kUnrolled = 4;
constexpr std::size_t kPlaces = 8;

template <bool kStores>
std::uint64_t work(volatile std::uint64_t* places, std::int64_t turns) {
  std::uint64_t last = 1;
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
  return last;
}

Measured run(const Values& values, const Worker&) {
  // One line each.
  alignas(64) std::array<std::uint64_t, kPlaces * 8> places{};
  places.fill(1);
  const auto per_turn = kUnrolled * static_cast<std::int64_t>(kPlaces);
  const std::int64_t turns = (values["operations"] + per_turn - 1) / per_turn;
  const bool stores = values["kind"] == 1;
  const auto work_of = stores ? work<true> : work<false>;
  work_of(places.data(), 2);
  region_begin();
  std::uint64_t check = work_of(places.data(), turns);
  opaque(check);
  const double seconds = region_end();
  return {turns * per_turn, seconds, check};
}

const Registration ports({
    "ports",
    "independent loads or stores in the first-level cache",
    {{"kind", 0, 0, 1, "operation", {"load", "store"}}, operations(1000000)},
    run,
});

}  // namespace
}  // namespace manynode::calibration
