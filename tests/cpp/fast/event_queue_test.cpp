#include "event_queue.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace manynode::fast {
namespace {

TEST(EventQueue, EventsOfEqualTimeComeOutAsTheyWentIn) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.push(5, EventKind::Resume, i);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(queue.pop().subject, i);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, OrderIsThatOfAStableSort) {
  std::mt19937 random(1);
  std::vector<std::pair<Picoseconds, std::uint32_t>> events;
  EventQueue queue;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    events.emplace_back(random() % 500, i);
    queue.push(events.back().first, EventKind::Resume, i);
  }
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [time, subject] : events) {
    const Event event = queue.pop();
    EXPECT_EQ(event.time, time);
    EXPECT_EQ(event.subject, subject);
    EXPECT_EQ(queue.now(), time);
  }
}

}  // namespace
}  // namespace manynode::fast
