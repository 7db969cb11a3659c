#include "branch_predictor.hpp"

#include <xmmintrin.h>

#include <cstring>

namespace manynode::node {
namespace {

constexpr std::uint32_t kAgeEvery = 1 << 18;  // branches between two ageings of the useful counters

// A saturating counter from 0 to `most`.
std::uint32_t moved(std::uint32_t counter, bool up, std::uint32_t most) {
  const std::uint32_t higher = counter < most ? counter + 1 : most, lower = counter > 0 ? counter - 1 : 0;
  return up ? higher : lower;
}

}  // namespace

Tage::Tage() : base_(std::size_t{1} << kBaseBits, 1), entries_((std::size_t{kTables} << kIndexBits) + 1) {
  for (int table = 0; table < kTables; ++table) {
    index_leaves_[table] = 1u << (kLengths[table] % kIndexBits);
    tag_leaves_[table] = 1u << (kLengths[table] % kTagBits);
    second_tag_leaves_[table] = 1u << (kLengths[table] % (kTagBits - 1));
  }
}

inline void Tage::remember(std::uint32_t taken) {
  constexpr auto bit = [](int table) { return 1u << ((kLengths[table] - 1) % 32); };
  constexpr auto word = [](int table) { return (kLengths[table] - 1) / 32; };
  const auto part = [this](int number) { return static_cast<std::uint32_t>(history_[number / 2] >> number % 2 * 32); };
  const Lanes oldest = {bit(0), bit(1), bit(2), bit(3)};
  const Lanes parts = {part(word(0)), part(word(1)), part(word(2)), part(word(3))};
  const auto leaves = static_cast<Lanes>((parts & oldest) == oldest);  // all bits, where the oldest one is set
  const auto fold = [&](Lanes& value, const Lanes& leaving, int bits) {
    value = (value << 1 | taken) ^ (leaving & leaves);
    value = (value ^ value >> bits) & ((1u << bits) - 1);
  };
  fold(index_fold_, index_leaves_, kIndexBits);
  fold(tag_fold_, tag_leaves_, kTagBits);
  fold(second_tag_fold_, second_tag_leaves_, kTagBits - 1);
  history_[2] = history_[2] << 1 | history_[1] >> 63;
  history_[1] = history_[1] << 1 | history_[0] >> 63;
  history_[0] = history_[0] << 1 | taken;
}

bool Tage::is_right(std::uint64_t address, bool taken) {
  const auto pc = static_cast<std::uint32_t>(address ^ (address >> 20));
  const Lanes all = Lanes{pc, pc, pc, pc};
  constexpr std::uint32_t size = 1u << kIndexBits;
  const Lanes index = ((all ^ (all >> 5) ^ index_fold_) & (size - 1)) + Lanes{0, size, 2 * size, 3 * size};
  const Lanes tag = (all ^ tag_fold_ ^ (second_tag_fold_ << 1)) & ((1u << kTagBits) - 1);
  std::uint8_t& base = base_[pc & ((1u << kBaseBits) - 1)];
  // Number 0 is the base, as an entry that says the same; what would be written to it is dropped.
  std::uint32_t places[1 + kTables], words[1 + kTables];
  places[0] = kTables * size;
  words[0] = std::uint32_t{base} << (kCounter + 1);
  std::memcpy(places + 1, &index, sizeof index);
  const Lanes found = {entries_[places[1]], entries_[places[2]], entries_[places[3]], entries_[places[4]]};
  std::memcpy(words + 1, &found, sizeof found);
  const auto matches =
      static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(static_cast<Lanes>((found & kTag) == tag))));

  const int provider = 31 - __builtin_clz(matches << 1 | 1);
  const int other = 31 - __builtin_clz((matches << 1 & ~(1u << provider)) | 1);
  const std::uint32_t word = words[provider], counter = word >> kCounter & 7, use = word >> kUse;
  const bool entry_says = counter >= 4, other_says = (words[other] >> kCounter & 7) >= 4;
  const bool is_new = (use == 0) & (counter - 3 < 2);
  const bool says = (is_new & (use_new_entries_ >= 8)) ? other_says : entry_says;
  const bool differ = entry_says != other_says;
  if (differ & is_new) {
    use_new_entries_ = static_cast<int>(moved(static_cast<std::uint32_t>(use_new_entries_), other_says == taken, 15));
  }
  const std::uint32_t new_use = differ ? moved(use, entry_says == taken, 3) : use;
  entries_[places[provider]] = (word & kTag) | moved(counter, taken, 7) << kCounter | new_use << kUse;
  // The base learns where the entry that covers it is not yet trusted.
  const bool base_learns = (other == 0) & (is_new | (provider == 0));
  base = static_cast<std::uint8_t>(base_learns ? moved(base, taken, 3) : base);

  if (says != taken && provider < kTables) {
    std::uint32_t tags[kTables];
    std::memcpy(tags, &tag, sizeof tags);
    allocate(provider, places + 1, tags, taken);
  }
  if (++branches_ % kAgeEvery == 0) age();
  remember(taken ? 1 : 0);
  return says == taken;
}

// A new entry in a table with a longer history, if one there is useless; else those there lose some of their use.
[[gnu::noinline]] void Tage::allocate(int from, const std::uint32_t* places, const std::uint32_t* tags, bool taken) {
  random_ = random_ * 1664525u + 1013904223u;
  // With probability 1/2 the search begins one table further, so that entries do not all crowd the first one.
  int table = from + static_cast<int>(random_ >> 31);
  if (table >= kTables) table = kTables - 1;
  for (int at = table; at < kTables; ++at) {
    std::uint32_t& entry = entries_[places[at]];
    if (entry >> kUse != 0) continue;
    entry = tags[at] | (taken ? 4u : 3u) << kCounter;
    return;
  }
  for (int at = table; at < kTables; ++at) {
    std::uint32_t& entry = entries_[places[at]];
    if (entry >> kUse != 0) entry -= 1u << kUse;
  }
}

void Tage::age() {
  for (std::uint32_t& entry : entries_) entry = (entry & ((1u << kUse) - 1)) | entry >> (kUse + 1) << kUse;
}

bool Targets::is_right(std::uint64_t address, std::uint64_t target) {
  Entry& entry = table_[(address ^ history_) % kEntries];
  const bool right = entry.address == address && entry.target == target;
  entry = {address, target};
  history_ = (history_ << 5 ^ target >> 2) & (kEntries - 1);
  return right;
}

}  // namespace manynode::node
