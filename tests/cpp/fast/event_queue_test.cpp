#include "event_queue.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace manynode::network {
namespace {

TEST(EventQueue, EventsOfEqualTimeComeOutAsTheyWentIn) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) queue.push(Event{.subject = i}, 5);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(queue.pop().subject, i);
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, OrderIsThatOfAStableSort) {
  std::mt19937 random(1);
  std::vector<std::pair<Picoseconds, std::uint32_t>> events;
  EventQueue queue;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    events.emplace_back(random() % 500, i);
    queue.push(Event{.subject = i}, events.back().first);
  }
  std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [time, subject] : events) {
    const Event event = queue.pop();
    EXPECT_EQ(event.time, time);
    EXPECT_EQ(event.subject, subject);
    EXPECT_EQ(queue.now(), time);
  }
}

// As in a simulation: what is popped brings new events, near and far, many at the same time.
TEST(EventQueue, AgreesWithASortedSetWhileEventsComeAndGo) {
  for (const std::uint64_t spread : {1ull, 50ull, 100'000ull, 1'000'000'000'000ull}) {
    std::mt19937_64 random(spread);
    std::set<std::pair<Picoseconds, std::uint32_t>> expected;
    EventQueue queue;
    std::uint32_t number = 0;
    const auto push = [&](Picoseconds time) {
      expected.emplace(time, number);
      queue.push(Event{.subject = number++}, time);
    };
    for (int i = 0; i < 3000; ++i) push(static_cast<Picoseconds>(random() % spread));
    for (int popped = 0; popped < 60'000; ++popped) {
      ASSERT_EQ(queue.size(), expected.size());
      const Event event = queue.pop();
      ASSERT_EQ(std::pair(event.time, event.subject), *expected.begin()) << spread << ", pop " << popped;
      expected.erase(expected.begin());
      if (number > 50'000) {
        if (expected.empty()) break;
        continue;
      }
      const auto kind = random() % 8;
      if (kind < 6) push(event.time + static_cast<Picoseconds>(random() % spread));
      if (kind == 6) push(event.time);
      if (kind == 7) push(event.time + static_cast<Picoseconds>(1000 * (random() % spread)));
      if (popped % 1000 == 0) {
        for (int i = 0; i < 400; ++i) push(event.time + static_cast<Picoseconds>(random() % 20));
      }
    }
  }
}

TEST(EventQueue, KnowsWhatComesNext) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 10'000; ++i) queue.push(Event{.subject = i}, (i * 7919) % 10'007);
  std::vector<Picoseconds> announced;
  while (queue.size() > EventQueue::kAhead + 1) {
    queue.pop();
    const Event* event = queue.upcoming(EventQueue::kAhead - 1);
    ASSERT_NE(event, nullptr);
    announced.push_back(event->time);
  }
  EXPECT_TRUE(std::is_sorted(announced.begin(), announced.end()));
}

}  // namespace
}  // namespace manynode::network
