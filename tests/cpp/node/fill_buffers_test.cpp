// Buffers of misses in flight, against a plain search for the one that is free first.
#include "fill_buffers.hpp"

#include <algorithm>
#include <random>

#include "node.hpp"

namespace manynode::node {
namespace {

TEST(FillBuffers, GiveTheOneThatIsFreeFirst) {
  for (const std::uint32_t count : {1u, 2u, 7u, 8u, 12u, 24u}) {
    FillBuffers buffers(count);
    std::vector<Stamp> plain(count, 0);
    std::mt19937 draw(count);
    Stamp now = 0;
    for (int i = 0; i < 20'000; ++i) {
      Stamp& first = *std::min_element(plain.begin(), plain.end());
      ASSERT_EQ(buffers.free_at(), first) << count << " buffers, miss " << i;
      now += draw() % 40;
      // Mostly in order, sometimes far behind the others, sometimes never in use at all.
      const Stamp until = draw() % 50 == 0 ? first : now + (draw() % 4 == 0 ? draw() % 2000 : 300);
      first = until;
      buffers.take(until);
    }
  }
}

TEST(FillBuffers, AreAllFreeAtFirst) {
  FillBuffers buffers(3);
  for (const Stamp until : {Stamp{30}, Stamp{10}, Stamp{20}}) {
    EXPECT_EQ(buffers.free_at(), 0u);
    buffers.take(until);
  }
  EXPECT_EQ(buffers.free_at(), 10u);
}

}  // namespace
}  // namespace manynode::node
