// Set-associative store of line or page numbers, the most recently used of a set first. A word is a number with flags
// in its highest bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace manynode::node {

inline constexpr std::uint64_t kDirty = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kPending = std::uint64_t{1} << 62;     // it may still be on its way
inline constexpr std::uint64_t kPrefetched = std::uint64_t{1} << 61;  // nobody has asked for it yet
inline constexpr std::uint64_t kNumber = kPrefetched - 1;
inline constexpr std::uint64_t kAbsent = kNumber;

class TagStore {
 public:
  TagStore(std::uint32_t sets, std::uint32_t ways)
      : mask_(sets - 1),
        ways_(ways),
        stride_((ways + kTogether - 1) / kTogether * kTogether),
        words_(std::size_t{sets} * stride_, kAbsent) {}

  // The set's most recent word.
  std::uint64_t& front(std::uint64_t number) { return words_[(number & mask_) * stride_]; }

  struct Taken {
    std::uint64_t* word;  // at the front
    bool found;
    std::uint64_t replaced;  // if it was absent
  };
  // Moves `number` to the front of its set. If it is absent, `word` comes there and the oldest one leaves.
  Taken take(std::uint64_t number, std::uint64_t word) {
    std::uint64_t* set = &front(number);
    // Every word moves back by one until the gap is filled.
    std::uint64_t moving = set[0];
    if ((moving & kNumber) == number) return {set, true, 0};
    for (std::uint32_t way = 1; way < ways_; ++way) {
      const std::uint64_t next = set[way];
      set[way] = moving;
      moving = next;
      if ((moving & kNumber) != number) continue;
      set[0] = moving;
      return {set, true, 0};
    }
    set[0] = word;
    return {set, false, moving};
  }

  // Moves `number` to the front of its set; nullptr if it is absent.
  std::uint64_t* find(std::uint64_t number) {
    std::uint64_t* at = peek(number);
    if (at == nullptr) return nullptr;
    std::uint64_t* set = &front(number);
    const std::uint64_t word = *at;
    move_back(set, static_cast<std::uint32_t>(at - set));
    set[0] = word;
    return set;
  }

  // The word of `number` where it is, or nullptr.
  std::uint64_t* peek(std::uint64_t number) {
    std::uint64_t* set = &front(number);
    // Most numbers that are looked for here are absent: whether any word matches is found without a branch.
    Words any{};
    for (std::uint32_t way = 0; way < stride_; way += kTogether) {
      Words words;
      std::memcpy(&words, set + way, sizeof words);
      any |= static_cast<Words>((words & kNumber) == number);
    }
    if ((any[0] | any[1] | any[2] | any[3]) == 0) return nullptr;
    while ((*set & kNumber) != number) ++set;
    return set;
  }

  // Says that `number` will be looked for soon: this host fetches its set meanwhile. (Always inline: see Uncore.)
  [[gnu::always_inline]] void announce(std::uint64_t number) {
    const std::uint64_t* set = &front(number);
    for (std::uint32_t way = 0; way < ways_; way += 8) __builtin_prefetch(set + way, 1);
  }

  // Puts an absent word at the front and returns the one that it replaces.
  std::uint64_t insert(std::uint64_t word) {
    std::uint64_t* set = &front(word & kNumber);
    const std::uint64_t victim = set[ways_ - 1];
    move_back(set, ways_ - 1);
    set[0] = word;
    return victim;
  }

  // Calls `visit` with every number that is there.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const std::uint64_t word : words_) {
      if ((word & kNumber) != kAbsent) visit(word & kNumber);
    }
  }

  // Removes `number` and returns its word, or kAbsent.
  std::uint64_t remove(std::uint64_t number) {
    std::uint64_t* at = peek(number);
    if (at == nullptr) return kAbsent;
    const std::uint64_t word = *at;
    std::uint64_t* last = &front(number) + ways_ - 1;
    std::memmove(at, at + 1, static_cast<std::size_t>(last - at) * sizeof *at);
    *last = kAbsent;
    return word;
  }

 private:
  // Moves the first `count` words back by one. (A call of memmove takes longer.)
  static void move_back(std::uint64_t* set, std::uint32_t count) {
    for (; count >= kTogether; count -= kTogether) {
      Words words;
      std::memcpy(&words, set + count - kTogether, sizeof words);
      std::memcpy(set + count - kTogether + 1, &words, sizeof words);
    }
    for (; count > 0; --count) set[count] = set[count - 1];
  }

  std::uint64_t mask_;
  // Words that are compared at once; sets are filled up to a multiple of it with absent ones.
  static constexpr std::uint32_t kTogether = 4;
  using Words = std::uint64_t __attribute__((vector_size(kTogether * sizeof(std::uint64_t))));

  std::uint32_t ways_, stride_;
  std::vector<std::uint64_t> words_;
};

}  // namespace manynode::node
