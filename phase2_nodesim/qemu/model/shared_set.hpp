// One set of a last-level cache in shared memory, with the lock that processes take to change it.
//
// A set is one array of words, one for each way: 27 bits of the line's hash and a bit that is set, because an empty
// word is 0; two bits for the replacement policy; kDirtyWord; and kLock (of the first word, for the whole set). Two
// lines of a set are taken for one with a probability of 2^-27, and a set of 16 ways is one cache line of the host,
// which is what makes a large cache affordable. An inclusive cache also keeps whole lines, because it has to name them
// to their owners.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace manynode::node {

struct SharedSet {
  static constexpr std::uint32_t kLock = 1u << 31, kDirtyWord = 1u << 30;
  static constexpr std::uint32_t kOthers = 2;  // a line of another program: no line of a rank has such a word
  static constexpr int kAgeBit = 28;
  static constexpr std::uint32_t kAge = 3u << kAgeBit, kHash = (1u << kAgeBit) - 1;

  std::uint32_t* words;
  std::uint64_t* lines;  // nullptr: the cache is not inclusive
  std::uint32_t ways;
  std::uint32_t index;  // in its cache

  std::uint64_t line(std::uint32_t way) const { return lines == nullptr ? 0 : lines[way]; }

  static std::uint32_t word_of(std::uint64_t hash) { return (static_cast<std::uint32_t>(hash) & kHash) | 1; }

  int way_of(std::uint32_t word) const {
    for (std::uint32_t way = 0; way < ways; ++way) {
      if ((words[way] & kHash) == word) return static_cast<int>(way);
    }
    return -1;
  }

  // While a set is locked, every value that its first word takes has kLock: another process that finds the bit clear
  // for a moment takes the lock. Others change nothing of it but the bit that is set already: a store is enough.

  void put(std::uint32_t way, std::uint32_t word, std::uint64_t line) const {
    if (way == 0) {
      std::atomic_ref(words[0]).store(word | kLock, std::memory_order_relaxed);
    } else {
      words[way] = word & ~kLock;
    }
    if (lines != nullptr) lines[way] = line;
  }

  // Moves the ways before `way` back by one, over it, and puts a word at the front.
  void put_first(std::uint32_t way, std::uint32_t word, std::uint64_t line) const {
    if (way != 0) {
      std::memmove(words + 1, words, way * sizeof *words);
      words[1] &= ~kLock;
      if (lines != nullptr) std::memmove(lines + 1, lines, way * sizeof *lines);
    }
    put(0, word, line);
  }

  // Moves the ways after `way` to the front by one, over it; the last one is empty then.
  void take_out(std::uint32_t way) const {
    const std::uint32_t last = ways - 1;
    if (way == 0) {
      std::atomic_ref(words[0]).store((last == 0 ? 0 : words[1]) | kLock, std::memory_order_relaxed);
    }
    const std::uint32_t to = std::max(way, 1u);
    if (to < last) std::memmove(words + to, words + to + 1, (last - to) * sizeof *words);
    if (last != 0) words[last] = 0;
    if (lines == nullptr) return;
    std::memmove(lines + way, lines + way + 1, (last - way) * sizeof *lines);
    lines[last] = 0;
  }

  void release() const {
    std::atomic_ref first(words[0]);
    first.store(first.load(std::memory_order_relaxed) & ~kLock, std::memory_order_release);
  }
};

}  // namespace manynode::node
