#include "uncore.hpp"

#include <algorithm>
#include <cstring>

#include "tag_store.hpp"

namespace manynode::node {
namespace {

// A process that dies with a lock must not stop the others; nobody holds one for so long.
constexpr int kPatience = 50'000'000;
// At saturation the buckets limit the rate; the queue's formula stops short of infinity.
constexpr double kMostLoad = 0.95;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
// Sets begin on a cache line of the host.
std::size_t stride_of(const NodeSettings& settings) { return (settings.last_level.ways + 15) / 16 * 16; }
std::size_t bytes_of_words(const NodeSettings& settings) {
  return stride_of(settings) * sizeof(std::uint32_t) * settings.last_level.sets * settings.last_levels;
}
std::size_t bytes_of_lines(const NodeSettings& settings) {
  if (settings.last_level.inclusion != Inclusion::kInclusive) return 0;
  return padded(std::size_t{settings.last_level.ways} * settings.last_level.sets * settings.last_levels *
                sizeof(std::uint64_t));
}
std::size_t bytes_of_buckets(const NodeSettings& settings) {
  return sizeof(std::atomic<std::uint64_t>) * kBuckets * settings.domains;
}

}  // namespace

std::size_t Uncore::bytes(const NodeSettings& settings) {
  return bytes_of_words(settings) + bytes_of_lines(settings) + bytes_of_buckets(settings) +
         settings.slots * sizeof(Mailbox);
}

Uncore::Uncore(const NodeSettings& settings, void* memory) : settings_(settings), stride_(stride_of(settings)) {
  auto* at = static_cast<std::byte*>(memory);
  words_ = reinterpret_cast<std::uint32_t*>(at);
  at += bytes_of_words(settings);
  if (bytes_of_lines(settings) != 0) lines_ = reinterpret_cast<std::uint64_t*>(at);
  at += bytes_of_lines(settings);
  buckets_ = reinterpret_cast<std::atomic<std::uint64_t>*>(at);
  at += bytes_of_buckets(settings);
  mailboxes_ = reinterpret_cast<Mailbox*>(at);
  const double cycle = settings.core.width * static_cast<double>(kTick);
  line_cost_ = static_cast<std::uint32_t>(settings.memory.line_cycles * cycle + 0.5);
  bucket_length_ = static_cast<Stamp>(kBucketCycles * cycle);
  bucket_room_ = static_cast<std::uint32_t>(bucket_length_);
  service_ = settings.memory.line_cycles * settings.memory.channels * cycle;
}

Uncore::Set Uncore::acquire(std::uint32_t cache, std::uint64_t hash) {
  const std::size_t index = index_of(cache, hash);
  const Set set{words_ + index * stride_, lines_ == nullptr ? nullptr : lines_ + index * settings_.last_level.ways};
  std::atomic_ref<std::uint32_t> first(set.words[0]);
  int tries = 0;
  while ((first.fetch_or(kLock, std::memory_order_acquire) & kLock) != 0) {
    while ((first.load(std::memory_order_relaxed) & kLock) != 0) {
      if (++tries > kPatience) {
        ++broken_locks_;
        return set;
      }
      __builtin_ia32_pause();
    }
  }
  return set;
}

int Uncore::way_of(const Set& set, std::uint32_t word) const {
  for (std::uint32_t way = 0; way < settings_.last_level.ways; ++way) {
    if ((set.words[way] & kHash) == word) return static_cast<int>(way);
  }
  return -1;
}

// Moves ways; the lock stays with the first word.
void Uncore::move(const Set& set, std::uint32_t to, std::uint32_t from, std::uint32_t count) const {
  set.words[0] &= ~kLock;
  std::memmove(set.words + to, set.words + from, count * sizeof *set.words);
  if (set.lines != nullptr) std::memmove(set.lines + to, set.lines + from, count * sizeof *set.lines);
}

// Puts a word at the front in place of another one. Empty words are 0.
void Uncore::insert(const Set& set, std::uint32_t word, std::uint64_t line, Answer& answer) {
  const std::uint32_t ways = settings_.last_level.ways;
  std::uint32_t way = ways - 1;
  if (settings_.last_level.replacement == Replacement::kRandom && set.words[way] != 0) {
    random_ = random_ * 1664525u + 1013904223u;
    way = static_cast<std::uint32_t>(std::uint64_t{random_} * ways >> 32);
  }
  answer.replaces_dirty = (set.words[way] & kDirtyWord) != 0;
  if (set.lines != nullptr) answer.victim = set.lines[way];
  move(set, 1, 0, way);
  set.words[0] = word | kLock;
  if (set.lines != nullptr) set.lines[0] = line;
}

Uncore::Answer Uncore::read(std::uint32_t cache, std::uint64_t line, std::uint32_t owner) {
  const std::uint64_t name = named(line, owner), hash = mix(name);
  const std::uint32_t word = word_of(hash), ways = settings_.last_level.ways;
  const bool victims_only = settings_.last_level.inclusion == Inclusion::kVictim;
  Answer answer;
  const Set set = acquire(cache, hash);
  if (const int found = way_of(set, word); found >= 0) {
    const auto way = static_cast<std::uint32_t>(found);
    const std::uint32_t old = set.words[way] & ~kLock;
    answer.hit = true;
    if (victims_only) {  // it moves back to the second level
      answer.was_dirty = (old & kDirtyWord) != 0;
      move(set, way, way + 1, ways - 1 - way);
      set.words[ways - 1] = ways == 1 ? kLock : 0;
      set.words[0] |= kLock;
    } else if (way != 0) {
      move(set, 1, 0, way);
      set.words[0] = old | kLock;
      if (set.lines != nullptr) set.lines[0] = name;
    }
  } else if (!victims_only) {
    insert(set, word, name, answer);
  }
  release(set);
  return answer;
}

Uncore::Answer Uncore::write_back(std::uint32_t cache, std::uint64_t line, std::uint32_t owner, bool dirty) {
  Answer answer;
  if (!dirty && settings_.last_level.inclusion != Inclusion::kVictim) return answer;
  const std::uint64_t name = named(line, owner), hash = mix(name);
  const std::uint32_t word = word_of(hash) | (dirty ? kDirtyWord : 0);
  const Set set = acquire(cache, hash);
  if (const int way = way_of(set, word & kHash); way >= 0) {
    set.words[way] |= word & kDirtyWord;
    answer.hit = true;
  } else {
    // A dirty line whose place is gone is written here, not around the cache.
    insert(set, word, name, answer);
  }
  release(set);
  return answer;
}

bool Uncore::remove(std::uint32_t cache, std::uint64_t line, std::uint32_t owner) {
  const std::uint64_t hash = mix(named(line, owner));
  const std::uint32_t ways = settings_.last_level.ways;
  const Set set = acquire(cache, hash);
  const int found = way_of(set, word_of(hash));
  if (found >= 0) {
    const auto way = static_cast<std::uint32_t>(found);
    move(set, way, way + 1, ways - 1 - way);
    set.words[ways - 1] = 0;
    set.words[0] |= kLock;
  }
  release(set);
  return found >= 0;
}

Stamp Uncore::transfer(std::uint32_t domain, Stamp at) {
  if (line_cost_ == 0) return 0;
  std::atomic<std::uint64_t>* buckets = buckets_ + std::size_t{domain} * kBuckets;
  const std::uint64_t first = at / bucket_length_;
  std::uint64_t bucket = first;
  std::uint32_t used_at_first = 0;
  for (;; ++bucket) {
    std::atomic<std::uint64_t>& word = buckets[bucket % kBuckets];
    std::uint64_t old = word.load(std::memory_order_relaxed);
    bool taken = false;
    while (true) {
      // A word belongs to one turn of the ring: the bucket's number is in its high half.
      const auto used = (old >> 32) == (bucket & 0xffffffff) ? static_cast<std::uint32_t>(old) : 0u;
      if (bucket == first) used_at_first = used;
      // How much of a line must fit differs evenly from bucket to bucket: on average the rate is exact.
      const auto part = static_cast<std::uint32_t>(
          std::uint64_t{static_cast<std::uint32_t>(bucket) * 0x9e3779b1u} * line_cost_ >> 32);
      taken = used + part < bucket_room_;
      if (!taken) break;
      const std::uint64_t now = (bucket & 0xffffffff) << 32 | (used + line_cost_);
      if (word.compare_exchange_weak(old, now, std::memory_order_relaxed)) break;
    }
    if (taken || bucket - first >= kBuckets / 2) break;
  }
  if (bucket > first + 1) return (bucket - 1) * bucket_length_ + bucket_length_ / 2 - at;
  // The load of the bucket before is known in full, that of this one in part: the greater one counts.
  const std::uint64_t before = buckets[(first - 1) % kBuckets].load(std::memory_order_relaxed);
  const auto used_before = (before >> 32) == ((first - 1) & 0xffffffff) ? static_cast<std::uint32_t>(before) : 0u;
  const double load = std::min(kMostLoad, static_cast<double>(std::max(used_before, used_at_first)) / bucket_room_);
  return time_of(static_cast<Stamp>(service_ * load / (2 * (1 - load))));
}

void Uncore::send_recall(std::uint32_t slot, std::uint64_t line) {
  Mailbox& box = mailboxes_[slot];
  const std::uint64_t place = box.written.fetch_add(1, std::memory_order_relaxed);
  if (place - box.read.load(std::memory_order_relaxed) >= kMailboxWords)
    box.lost.fetch_add(1, std::memory_order_relaxed);
  box.words[place % kMailboxWords].store(line + 1, std::memory_order_release);
}

bool Uncore::has_recalls(std::uint32_t slot) const {
  const Mailbox& box = mailboxes_[slot];
  return box.read.load(std::memory_order_relaxed) != box.written.load(std::memory_order_relaxed);
}

std::uint64_t Uncore::next_recall(std::uint32_t slot) {
  Mailbox& box = mailboxes_[slot];
  std::uint64_t at = box.read.load(std::memory_order_relaxed);
  const std::uint64_t end = box.written.load(std::memory_order_acquire);
  if (at == end) return 0;
  if (end - at > kMailboxWords) at = end - kMailboxWords;
  const std::uint64_t word = box.words[at % kMailboxWords].exchange(0, std::memory_order_acquire);
  if (word == 0) return 0;  // its writer is about to put it there
  box.read.store(at + 1, std::memory_order_relaxed);
  return word;
}

std::uint64_t Uncore::lost_recalls() const {
  std::uint64_t lost = 0;
  for (std::uint32_t slot = 0; slot < settings_.slots; ++slot) lost += mailboxes_[slot].lost.load();
  return lost;
}

}  // namespace manynode::node
