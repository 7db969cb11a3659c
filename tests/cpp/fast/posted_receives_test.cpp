#include "request.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace manynode::network {
namespace {

struct Posted {
  Envelope envelope;
  std::uint32_t slot;
};

// As in a run: receives are posted and met in any order, some take any source or tag, sometimes more at once than fit
// beside the rank's own cache line. Each message meets the first that takes it.
TEST(PostedReceives, AgreeWithASearchInTheOrderOfPosting) {
  for (const std::uint32_t most : {1u, 8u, 26u, 32u, 40u, 300u}) {
    std::mt19937 random(most);
    RequestTable requests;
    PostedReceives posted;
    std::vector<Posted> expected;
    const auto envelope = [&](bool wild) {
      Envelope made{static_cast<std::int32_t>(random() % 40), static_cast<std::int32_t>(random() % 3), 0};
      if (wild && random() % 8 == 0) made.peer = kAnySource;
      if (wild && random() % 8 == 0) made.tag = kAnyTag;
      return made;
    };
    for (int step = 0; step < 20'000; ++step) {
      // Now and then all of them are met.
      if (expected.size() < most && (step / 500) % 2 == 0) {
        const Envelope made = envelope(step / 2000 % 2 == 0);
        const std::uint32_t slot = requests.add();
        requests[slot].peer = made.peer;
        requests[slot].tag = made.tag;
        requests[slot].context = made.context;
        posted.add(made, slot);
        expected.push_back({made, slot});
      }
      if (step % 3 == 0 && (step / 500) % 2 == 0) continue;
      const Envelope message = envelope(false);
      std::size_t first = 0;
      while (first < expected.size() && !expected[first].envelope.takes(message)) ++first;
      const std::uint32_t place = posted.find(message, requests);
      ASSERT_EQ(place == kNone, first == expected.size()) << most << ", step " << step;
      if (place == kNone) continue;
      ASSERT_EQ(posted.slot(place), expected[first].slot) << most << ", step " << step;
      requests.remove(posted.slot(place));
      posted.remove(place);
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(first));
      ASSERT_EQ(posted.size(), expected.size());
    }
    std::vector<std::uint32_t> slots;
    posted.for_each_slot([&](std::uint32_t slot) { slots.push_back(slot); });
    ASSERT_EQ(slots.size(), expected.size());
    for (std::size_t i = 0; i < slots.size(); ++i) EXPECT_EQ(slots[i], expected[i].slot);
  }
}

}  // namespace
}  // namespace manynode::network
