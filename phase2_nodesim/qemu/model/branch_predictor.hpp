// Predictors of one core. Each predicts a branch, learns its outcome, and says whether the prediction was right.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "instruction.hpp"
#include "settings.hpp"

namespace manynode::node {

// Two-bit counters chosen by the address and the global history (McFarling, Combining Branch Predictors, 1993).
class Gshare {
 public:
  Gshare() : counters_(std::size_t{1} << kBits, 1) {}

  bool is_right(std::uint64_t address, bool taken) {
    std::uint8_t& counter = counters_[(address ^ history_) & ((1u << kBits) - 1)];
    const bool right = (counter >= 2) == taken;
    if (taken ? counter < 3 : counter > 0) counter = static_cast<std::uint8_t>(taken ? counter + 1 : counter - 1);
    history_ = history_ << 1 | taken;
    return right;
  }

 private:
  static constexpr int kBits = 14;
  std::vector<std::uint8_t> counters_;
  std::uint64_t history_ = 0;
};

// TAGE with four tagged tables (Seznec and Michaud, A case for (partially) tagged geometric history length branch
// prediction, JILP 2006): the longest history whose tag matches predicts. The four tables are handled as one vector,
// and without branches that this host would have to predict in turn: the base predictor counts as a table that matches
// every branch.
class Tage {
 public:
  Tage();
  bool is_right(std::uint64_t address, bool taken);

 private:
  static constexpr int kTables = 4, kIndexBits = 10, kTagBits = 11, kBaseBits = 13;
  static constexpr std::array<int, kTables> kLengths{5, 15, 44, 130};
  using Lanes = std::uint32_t __attribute__((vector_size(16)));
  // An entry is one word: tag (bits 0 to 15), counter from 0 to 7 (16 to 23; taken from 4 on), use from 0 to 3 (24 on).
  static constexpr std::uint32_t kTag = 0xffff;
  static constexpr int kCounter = 16, kUse = 24;

  void remember(std::uint32_t taken);
  void allocate(int from, const std::uint32_t* places, const std::uint32_t* tags, bool taken);
  void age();

  std::vector<std::uint8_t> base_;
  std::vector<std::uint32_t> entries_;  // table after table, and one that takes what is not written to a table
  Lanes index_fold_{}, tag_fold_{}, second_tag_fold_{};
  // Where the oldest bits of the four histories leave the folds.
  Lanes index_leaves_{}, tag_leaves_{}, second_tag_leaves_{};
  std::array<std::uint64_t, 3> history_{};  // the latest is bit 0 of the first word
  std::uint32_t random_ = 1, branches_ = 0;
  int use_new_entries_ = 8;  // from 8 on: a new entry's prediction is worse than the one before it
};

// Targets of indirect branches by address and the last targets; a stack for returns.
class Targets {
 public:
  Targets() : table_(kEntries) {}
  bool is_right(std::uint64_t address, std::uint64_t target);
  void call(std::uint64_t return_address) { stack_[top_++ % kDepth] = return_address; }
  bool returns_right(std::uint64_t target) { return stack_[--top_ % kDepth] == target; }

 private:
  static constexpr std::size_t kEntries = 2048;
  static constexpr std::uint32_t kDepth = 32;
  struct Entry {
    std::uint64_t address = 0, target = 0;
  };
  std::vector<Entry> table_;
  std::array<std::uint64_t, kDepth> stack_{};
  std::uint32_t top_ = 0;
  std::uint64_t history_ = 0;
};

// Branches that close a loop with a constant number of iterations (as in LTAGE: Seznec, A 256 Kbits L-TAGE Branch
// Predictor, JILP 2007). An entry predicts when its number has been the same several times in a row.
class Loops {
 public:
  enum class Answer { kUnknown, kRight, kWrong };
  Answer learn(std::uint64_t address, bool taken) {
    Entry& entry = entries_[(address ^ address >> 8) % kEntries];
    if (entry.address != address) {
      if (entry.sure > 0) {
        --entry.sure;
      } else {
        entry = {address, 0, 0, 0};
      }
      return Answer::kUnknown;
    }
    const bool known = entry.sure >= kSure;
    const bool says = entry.now < entry.taken;
    if (taken) {
      ++entry.now;
      if (known && says) return Answer::kRight;
      if (entry.now > kMost) entry.sure = 0;
    } else {
      entry.sure = entry.now == entry.taken && entry.now != 0 ? (known ? kSure : entry.sure + 1) : 0;
      entry.taken = entry.now;
      entry.now = 0;
    }
    if (!known) return Answer::kUnknown;
    if (says == taken) return Answer::kRight;
    entry.sure = 0;
    return Answer::kWrong;
  }

 private:
  static constexpr std::size_t kEntries = 256;
  static constexpr std::uint32_t kSure = 4, kMost = 1 << 14;
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t taken = 0, now = 0, sure = 0;
  };
  std::array<Entry, kEntries> entries_{};
};

class BranchPredictor {
 public:
  explicit BranchPredictor(Predictor kind) : kind_(kind) {}

  // `taken` counts for conditional branches, `target` for indirect ones.
  bool is_right(Ending ending, std::uint64_t address, std::uint64_t next_address, std::uint64_t target) {
    switch (ending) {
      case Ending::kConditional: {
        const bool taken = target != next_address;
        if (kind_ == Predictor::kGshare) return gshare_.is_right(address, taken);
        const Loops::Answer answer = loops_.learn(address, taken);
        // Branches of known loops say nothing to others: they stay out of the history, which then reaches further back.
        return answer == Loops::Answer::kUnknown ? tage_.is_right(address, taken) : answer == Loops::Answer::kRight;
      }
      case Ending::kCall:
        targets_.call(next_address);
        return true;
      case Ending::kIndirectCall:
        targets_.call(next_address);
        return targets_.is_right(address, target);
      case Ending::kIndirectJump:
        return targets_.is_right(address, target);
      case Ending::kReturn:
        return targets_.returns_right(target);
      case Ending::kJump:
      case Ending::kNone:
        return true;
    }
    return true;
  }

 private:
  Predictor kind_;
  Loops loops_;
  Tage tage_;
  Gshare gshare_;
  Targets targets_;
};

}  // namespace manynode::node
