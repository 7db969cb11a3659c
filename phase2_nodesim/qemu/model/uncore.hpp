// What the cores of a node share: last-level caches, memory domains, and a mailbox per core for lines that an inclusive
// cache recalls. It lives in memory that the ranks of a node map together (or in private memory for one rank alone).
//
// Cores are up to a quantum apart in simulated time. A memory that had one "free from" time would make those behind pay
// for those ahead. Time is therefore cut into buckets, each with as many lines as the bandwidth allows; a line goes
// into the first bucket with room. Below saturation a line waits as in a queue with Poisson arrivals and a fixed
// service time (M/D/1, Pollaczek-Khinchine): service x load / (2 (1 - load)), where the service is one line on one
// channel.
//
// Programs that do not belong to the node's ranks may bring lines to its last levels, too, at a steady rate. A set
// takes its part of them in when it is next looked at. With least recently used replacement, a range of memory that is
// read again and again stays if it has room together with all that the others bring meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "replacement.hpp"
#include "settings.hpp"
#include "shared_set.hpp"

namespace manynode::node {

inline constexpr std::uint32_t kBucketCycles = 128;
inline constexpr std::uint32_t kBuckets = 1 << 14;
inline constexpr std::uint32_t kMailboxWords = 1024;

// A line of a rank: a physical line number, and the rank's first slot from kOwnerBit on.
inline constexpr int kOwnerBit = 44;
inline constexpr std::uint64_t kPhysicalLine = (std::uint64_t{1} << kOwnerBit) - 1;

// Mixes all bits (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A line with its owner.
constexpr std::uint64_t named(std::uint64_t line, std::uint32_t owner) {
  return line | (std::uint64_t{owner} + 1) << kOwnerBit;
}

// The owner of such a line.
constexpr std::uint32_t owner_of(std::uint64_t name) { return static_cast<std::uint32_t>((name >> kOwnerBit) - 1); }

class Uncore {
 public:
  static std::size_t bytes(const NodeSettings& settings);

  // On zeroed memory of bytes(settings) bytes, aligned to 64. `alone`: one core uses it, which needs no locks.
  Uncore(const NodeSettings& settings, void* memory, bool alone = false);

  struct Answer {
    bool hit = false;
    bool was_dirty = false;       // the line left a victim cache dirty
    bool replaces_dirty = false;  // a dirty line was replaced
    std::uint64_t victim = 0;     // the line that an inclusive cache replaced, with its owner (0: none)
    std::uint32_t written = 0;    // dirty lines that other programs' lines replaced before
  };
  // Says that `line` will be looked for soon: this host fetches its set meanwhile. (Always inline: GCC takes a function
  // that only prefetches for one without any effect, and drops the calls.)
  [[gnu::always_inline]] void announce(std::uint32_t cache, std::uint64_t line, std::uint32_t owner) {
    const std::size_t index = index_of(cache, mix(named(line, owner)));
    for (std::size_t word = 0; word < stride_; word += 16) __builtin_prefetch(words_ + index * stride_ + word, 1);
    if (lines_ == nullptr) return;
    const std::size_t ways = settings_.last_level.ways;
    for (std::size_t way = 0; way < ways; way += 8) __builtin_prefetch(lines_ + index * ways + way, 1);
  }
  // A read of `line`: on a miss the line is inserted, unless the cache takes victims only. Here and below, `at` is the
  // time up to which other programs have brought theirs.
  Answer read(std::uint32_t cache, std::uint64_t line, std::uint32_t owner, Stamp at = 0);
  // A line that left a second-level cache.
  Answer write_back(std::uint32_t cache, std::uint64_t line, std::uint32_t owner, bool dirty, Stamp at = 0);
  // Whether a line is there; no use of it.
  bool holds(std::uint32_t cache, std::uint64_t line, std::uint32_t owner);
  // Removes a line; true if it was there.
  bool remove(std::uint32_t cache, std::uint64_t line, std::uint32_t owner);

  // Takes the room of one line in `domain` at `at`, and returns how long it waits for it.
  Stamp transfer(std::uint32_t domain, Stamp at);
  // The same for a line of a message: returns when the next line of the message may come.
  //
  // A network card writes and reads lines one after the other. The machine file has no rate of the card. This model
  // takes the rate of one memory channel, which is close to that of a card of the same years (DDR4-3200 and 200 Gbit/s:
  // about 25 GB/s). A message then takes 1 / channels of the domain's bandwidth and leaves the rest to the cores. Where
  // the memory has no room, the message goes on where its last line found some.
  Stamp transfer_of_message(std::uint32_t domain, Stamp at);
  // How far a message may be accounted for ahead of the cores: beyond that, the ring of buckets would overwrite what
  // the cores still use.
  Stamp horizon() const { return bucket_length_ * (kBuckets / 2); }

  // `line` may have kDirty: the last level has sent it to memory.
  void send_recall(std::uint32_t slot, std::uint64_t line);
  // The next line that `slot` has to give up plus 1, or 0.
  std::uint64_t next_recall(std::uint32_t slot);
  bool has_recalls(std::uint32_t slot) const;
  // Recalls that found the mailbox full: of this slot, of all.
  std::uint64_t lost_recalls(std::uint32_t slot) const { return mailboxes_[slot].lost.load(std::memory_order_acquire); }
  std::uint64_t lost_recalls() const;
  std::uint64_t broken_locks() const { return broken_locks_.load(std::memory_order_relaxed); }

 private:
  struct Mailbox {
    std::atomic<std::uint64_t> written, read, lost, pad[5];
    std::atomic<std::uint64_t> words[kMailboxWords];
  };
  std::size_t index_of(std::uint32_t cache, std::uint64_t hash) const {
    // Slices are chosen by a hash of the address: no stride meets few sets.
    return std::size_t{cache} * settings_.last_level.sets + ((hash >> 32) * settings_.last_level.sets >> 32);
  }
  SharedSet acquire(std::uint32_t cache, std::uint64_t hash);
  std::byte* common_of(std::uint32_t cache) const { return common_ + cache * ReplacementPolicy::kCommonBytes; }
  void let_others_in(std::uint32_t cache, const SharedSet& set, Stamp at, Answer& answer);
  void insert(std::uint32_t cache, const SharedSet& set, std::uint32_t word, std::uint64_t line, Answer& answer);
  // A bucket's word: the lines' time in its low bits, the bucket's number above. Numbers do not wrap: 2^40 buckets are
  // half a day of simulated time.
  static constexpr int kUsedBits = 24;
  static constexpr std::uint32_t kUsed = (1u << kUsedBits) - 1;
  struct Room {
    std::uint64_t first, bucket;  // where the search began and ended
    std::uint32_t used_at_first;
  };
  Room take_room(std::uint32_t domain, Stamp at);

  const NodeSettings settings_;
  const bool alone_;
  std::size_t stride_;  // words from one set to the next
  std::uint32_t* words_;
  std::uint64_t* lines_ = nullptr;
  std::byte* common_;  // of the replacement policy
  std::unique_ptr<ReplacementPolicy> policy_;
  std::atomic<std::uint64_t> broken_locks_{0};
  std::atomic<std::uint64_t>* buckets_;
  Mailbox* mailboxes_;
  double others_;  // lines of others that come to a set per stamp
  std::uint32_t line_cost_, bucket_room_;
  Stamp bucket_length_;
  double service_;
};

}  // namespace manynode::node
