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

Tage::Tage() : base_(std::size_t{1} << kBaseBits, 1), entries_(std::size_t{kTables} << kIndexBits) {
  for (std::uint32_t old = 0; old < 16; ++old) {
    for (int table = 0; table < kTables; ++table) {
      if ((old >> table & 1) == 0) continue;
      index_leaves_[old][table] = 1u << (kLengths[table] % kIndexBits);
      tag_leaves_[old][table] = 1u << (kLengths[table] % kTagBits);
      second_tag_leaves_[old][table] = 1u << (kLengths[table] % (kTagBits - 1));
    }
  }
}

bool Tage::is_right(std::uint64_t address, bool taken) {
  const auto pc = static_cast<std::uint32_t>(address ^ (address >> 20));
  const Lanes all = Lanes{pc, pc, pc, pc};
  constexpr std::uint32_t size = 1u << kIndexBits;
  const Lanes index = ((all ^ (all >> 5) ^ index_fold_) & (size - 1)) + Lanes{0, size, 2 * size, 3 * size};
  const Lanes tag = (all ^ tag_fold_ ^ (second_tag_fold_ << 1)) & ((1u << kTagBits) - 1);
  alignas(16) std::uint32_t places[kTables];
  std::memcpy(places, &index, sizeof places);
  const Lanes words = {entries_[places[0]], entries_[places[1]], entries_[places[2]], entries_[places[3]]};
  const auto matches =
      static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(static_cast<Lanes>((words & kTag) == tag))));

  std::uint8_t& base = base_[pc & ((1u << kBaseBits) - 1)];
  const bool base_says = base >= 2;
  bool says = base_says;
  int provider = -1;
  if (matches == 0) {
    base = static_cast<std::uint8_t>(moved(base, taken, 3));
  } else {
    provider = 31 - __builtin_clz(matches);
    const std::uint32_t others = matches & ~(1u << provider);
    std::uint32_t& entry = entries_[places[provider]];
    const std::uint32_t counter = entry >> kCounter & 7, use = entry >> kUse;
    const bool entry_says = counter >= 4;
    const bool other_says =
        others == 0 ? base_says : (entries_[places[31 - __builtin_clz(others)]] >> kCounter & 7) >= 4;
    const bool is_new = use == 0 && (counter == 3 || counter == 4);
    says = is_new && use_new_entries_ >= 8 ? other_says : entry_says;
    std::uint32_t new_use = use;
    if (entry_says != other_says) {
      new_use = moved(use, entry_says == taken, 3);
      if (is_new)
        use_new_entries_ =
            static_cast<int>(moved(static_cast<std::uint32_t>(use_new_entries_), other_says == taken, 15));
    }
    entry = (entry & kTag) | moved(counter, taken, 7) << kCounter | new_use << kUse;
    // The base learns where the entry that covers it is not yet trusted.
    if (is_new && others == 0) base = static_cast<std::uint8_t>(moved(base, taken, 3));
  }
  if (says != taken && provider < kTables - 1) {
    alignas(16) std::uint32_t tags[kTables];
    std::memcpy(tags, &tag, sizeof tags);
    allocate(provider, places, tags, taken);
  }
  if (++branches_ % kAgeEvery == 0) age();
  remember(taken ? 1 : 0);
  return says == taken;
}

// A new entry in a table with a longer history, if one there is useless; else those there lose some of their use.
void Tage::allocate(int above, const std::uint32_t* places, const std::uint32_t* tags, bool taken) {
  random_ = random_ * 1664525u + 1013904223u;
  // With probability 1/2 the search begins one table further, so that entries do not all crowd the first one.
  int table = above + 1 + static_cast<int>(random_ >> 31);
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

void Tage::remember(std::uint32_t taken) {
  const auto bit = [this](int length) {
    return static_cast<std::uint32_t>(history_[(length - 1) / 64] >> ((length - 1) % 64) & 1);
  };
  const std::uint32_t old = bit(kLengths[0]) | bit(kLengths[1]) << 1 | bit(kLengths[2]) << 2 | bit(kLengths[3]) << 3;
  const auto fold = [&](Lanes& value, const Lanes& leaves, int bits) {
    value = (value << 1 | taken) ^ leaves;
    value = (value ^ value >> bits) & ((1u << bits) - 1);
  };
  fold(index_fold_, index_leaves_[old], kIndexBits);
  fold(tag_fold_, tag_leaves_[old], kTagBits);
  fold(second_tag_fold_, second_tag_leaves_[old], kTagBits - 1);
  history_[2] = history_[2] << 1 | history_[1] >> 63;
  history_[1] = history_[1] << 1 | history_[0] >> 63;
  history_[0] = history_[0] << 1 | taken;
}

bool Targets::is_right(std::uint64_t address, std::uint64_t target) {
  Entry& entry = table_[(address ^ history_) % kEntries];
  const bool right = entry.address == address && entry.target == target;
  entry = {address, target};
  history_ = (history_ << 5 ^ target >> 2) & (kEntries - 1);
  return right;
}

}  // namespace manynode::node
