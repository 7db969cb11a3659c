// The last level of Intel's Haswell and Broadwell, as Abel and Reineke measured it (nanoBench, ISPASS 2020; uops.info,
// "Caches"): two policies that differ in how they insert, and set duelling between them.
//
// Both are quad-age LRU, by those authors' names QLRU_H11_M1_R0_U0 and QLRU_H11_MR16_1_R0_U0. Each line has an age of 0
// to 3. A hit makes ages 3 and 2 to 1, and 1 to 0 (H11). The first line of age 3 makes room (R0). After each access all
// lines grow older until there is one of age 3 (U0). The first policy inserts lines with age 1 (M1): it keeps what is
// used again soon. The second one inserts 15 of 16 lines with age 3, and the others with age 1: they replace each
// other, and a part of a cycle that is larger than the cache stays.
//
// Of each policy, 64 sets always follow it. The other sets follow the policy whose sets have missed less (Qureshi et
// al., "Adaptive Insertion Policies for High Performance Caching", ISCA 2007), by a counter of 10 bits as in Jaleel et
// al., "High Performance Cache Replacement Using Re-Reference Interval Prediction", ISCA 2010. The processors' own
// counter is not known. In caches of fewer than 4,096 sets, one set of 64 follows each policy.
#pragma once

#include <atomic>

#include "replacement.hpp"

namespace manynode::node {

class AdaptiveReplacement : public ReplacementPolicy {
 public:
  explicit AdaptiveReplacement(std::uint32_t sets);

  void use(const SharedSet& set, std::uint32_t way) override;
  Replaced insert(const SharedSet& set, std::byte* common, std::uint32_t word, std::uint64_t line) override;
  void remove(const SharedSet& set, std::uint32_t way) override { set.put(way, 0, 0); }

  static constexpr std::uint32_t kSetsOfEach = 64, kLeastApart = 64;
  static constexpr std::int32_t kMost = 511;  // the counter's bounds are -kMost - 1 and kMost
  static constexpr std::uint32_t kRarely = 16;

 private:
  enum class Side { kYoung, kOld, kFollows };
  Side side_of(std::uint32_t index) const;

  std::uint32_t apart_;  // sets from one that always follows the first policy to the next
  Draw draw_;
};

}  // namespace manynode::node
