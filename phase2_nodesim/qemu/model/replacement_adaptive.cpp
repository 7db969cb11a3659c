#include "replacement_adaptive.hpp"

#include <algorithm>

namespace manynode::node {
namespace {

constexpr std::uint32_t kOldest = 3;

std::uint32_t age_of(std::uint32_t word) { return (word & SharedSet::kAge) >> SharedSet::kAgeBit; }

std::uint32_t aged(std::uint32_t word, std::uint32_t age) {
  return (word & ~SharedSet::kAge) | age << SharedSet::kAgeBit;
}

bool is_empty(std::uint32_t word) { return (word & SharedSet::kHash) == 0; }

// All lines grow older until there is one of the highest age. An empty way counts as one.
void grow_older(const SharedSet& set) {
  std::uint32_t most = 0;
  for (std::uint32_t way = 0; way < set.ways; ++way) {
    most = std::max(most, is_empty(set.words[way]) ? kOldest : age_of(set.words[way]));
  }
  if (most == kOldest) return;
  const std::uint32_t more = (kOldest - most) << SharedSet::kAgeBit;
  set.put(0, set.words[0] + more, set.line(0));
  for (std::uint32_t way = 1; way < set.ways; ++way) set.words[way] += more;
}

}  // namespace

AdaptiveReplacement::AdaptiveReplacement(std::uint32_t sets) : apart_(std::max(kLeastApart, sets / kSetsOfEach)) {}

AdaptiveReplacement::Side AdaptiveReplacement::side_of(std::uint32_t index) const {
  const std::uint32_t place = index % apart_;
  if (place == 0) return Side::kYoung;
  return place == apart_ / 2 ? Side::kOld : Side::kFollows;
}

void AdaptiveReplacement::use(const SharedSet& set, std::uint32_t way) {
  const std::uint32_t word = set.words[way];
  set.put(way, aged(word, age_of(word) >= 2 ? 1 : 0), set.line(way));
  grow_older(set);
}

ReplacementPolicy::Replaced AdaptiveReplacement::insert(const SharedSet& set, std::byte* common, std::uint32_t word,
                                                        std::uint64_t line) {
  // Misses of the first policy's sets, less those of the second one's.
  std::atomic_ref<std::int32_t> lead(*reinterpret_cast<std::int32_t*>(common));
  const std::int32_t before = lead.load(std::memory_order_relaxed);
  Side side = side_of(set.index);
  // Two processes that count at once lose one miss: it does no harm.
  if (side == Side::kYoung) lead.store(std::min(before + 1, kMost), std::memory_order_relaxed);
  if (side == Side::kOld) lead.store(std::max(before - 1, -kMost - 1), std::memory_order_relaxed);
  if (side == Side::kFollows) side = before > 0 ? Side::kOld : Side::kYoung;

  std::uint32_t way = 0;
  while (way < set.ways && !is_empty(set.words[way])) ++way;
  if (way == set.ways) {
    way = 0;
    while (age_of(set.words[way]) != kOldest) ++way;
  }
  const Replaced replaced{is_empty(set.words[way]) ? 0 : set.words[way] & ~SharedSet::kLock, set.line(way)};
  set.put(way, aged(word, side == Side::kOld && draw_.below(kRarely) != 0 ? kOldest : 1), line);
  grow_older(set);
  return replaced;
}

}  // namespace manynode::node
