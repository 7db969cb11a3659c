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
// Sets begin on a cache line of the host. A word behind the ways counts the lines of others.
std::size_t stride_of(const NodeSettings& settings) {
  return (settings.last_level.ways + (settings.last_level.others > 0 ? 1u : 0u) + 15) / 16 * 16;
}
std::size_t bytes_of_words(const NodeSettings& settings) {
  return stride_of(settings) * sizeof(std::uint32_t) * settings.last_level.sets * settings.last_levels;
}
std::size_t bytes_of_lines(const NodeSettings& settings) {
  if (settings.last_level.inclusion != Inclusion::kInclusive) return 0;
  return padded(std::size_t{settings.last_level.ways} * settings.last_level.sets * settings.last_levels *
                sizeof(std::uint64_t));
}
std::size_t bytes_of_policy(const NodeSettings& settings) {
  return ReplacementPolicy::kCommonBytes * settings.last_levels;
}
std::size_t bytes_of_buckets(const NodeSettings& settings) {
  return sizeof(std::atomic<std::uint64_t>) * kBuckets * settings.domains;
}

}  // namespace

std::size_t Uncore::bytes(const NodeSettings& settings) {
  return bytes_of_words(settings) + bytes_of_lines(settings) + bytes_of_policy(settings) + bytes_of_buckets(settings) +
         settings.slots * sizeof(Mailbox);
}

Uncore::Uncore(const NodeSettings& settings, void* memory, bool alone)
    : settings_(settings),
      alone_(alone),
      stride_(stride_of(settings)),
      policy_(replacement_policy(settings.last_level)) {
  auto* at = static_cast<std::byte*>(memory);
  words_ = reinterpret_cast<std::uint32_t*>(at);
  at += bytes_of_words(settings);
  if (bytes_of_lines(settings) != 0) lines_ = reinterpret_cast<std::uint64_t*>(at);
  at += bytes_of_lines(settings);
  common_ = at;
  at += bytes_of_policy(settings);
  buckets_ = reinterpret_cast<std::atomic<std::uint64_t>*>(at);
  at += bytes_of_buckets(settings);
  mailboxes_ = reinterpret_cast<Mailbox*>(at);
  const double cycle = settings.core.width * static_cast<double>(kTick);
  others_ = settings.last_level.others / settings.last_level.sets / cycle;
  // A bucket that is full but for a stamp takes one line more.
  line_cost_ = static_cast<std::uint32_t>(std::min(settings.memory.line_cycles * cycle + 0.5, kUsed / 2.0));
  bucket_length_ = static_cast<Stamp>(kBucketCycles * cycle);
  bucket_room_ = static_cast<std::uint32_t>(bucket_length_);
  service_ = settings.memory.line_cycles * settings.memory.channels * cycle;
}

SharedSet Uncore::acquire(std::uint32_t cache, std::uint64_t hash) {
  const std::size_t index = index_of(cache, hash);
  const std::uint32_t ways = settings_.last_level.ways;
  const SharedSet set{words_ + index * stride_, lines_ == nullptr ? nullptr : lines_ + index * ways, ways,
                      static_cast<std::uint32_t>(index - std::size_t{cache} * settings_.last_level.sets)};
  if (alone_) return set;
  std::atomic_ref<std::uint32_t> first(set.words[0]);
  int tries = 0;
  while ((first.fetch_or(SharedSet::kLock, std::memory_order_acquire) & SharedSet::kLock) != 0) {
    while ((first.load(std::memory_order_relaxed) & SharedSet::kLock) != 0) {
      if (++tries > kPatience) {
        broken_locks_.fetch_add(1, std::memory_order_relaxed);
        return set;
      }
      __builtin_ia32_pause();
    }
  }
  return set;
}

// The cache is full of others' lines at the start. Each set gets them at times of its own.
void Uncore::let_others_in(std::uint32_t cache, const SharedSet& set, Stamp at, Answer& answer) {
  if (others_ == 0) return;
  const double phase = static_cast<double>(mix(set.index + 1) >> 32) / (std::uint64_t{1} << 32);
  const auto come =
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(static_cast<double>(at) * others_ + phase)) + set.ways;
  std::uint32_t& taken_in = set.words[set.ways];
  // Another core may have been here at a later time.
  const auto due = static_cast<std::int32_t>(come - taken_in);
  if (due <= 0) return;
  taken_in = come;
  for (std::uint32_t left = std::min(static_cast<std::uint32_t>(due), set.ways); left > 0; --left) {
    const auto replaced = policy_->insert(set, common_of(cache), SharedSet::kOthers, 0);
    const bool dirty = (replaced.word & SharedSet::kDirtyWord) != 0;
    answer.written += dirty;
    if (replaced.line == 0) continue;
    send_recall(owner_of(replaced.line), (replaced.line & kPhysicalLine) | (dirty ? kDirty : 0));
  }
}

void Uncore::insert(std::uint32_t cache, const SharedSet& set, std::uint32_t word, std::uint64_t line, Answer& answer) {
  const auto replaced = policy_->insert(set, common_of(cache), word, line);
  answer.replaces_dirty = (replaced.word & SharedSet::kDirtyWord) != 0;
  answer.victim = replaced.line;
}

Uncore::Answer Uncore::read(std::uint32_t cache, std::uint64_t line, std::uint32_t owner, Stamp at) {
  const std::uint64_t name = named(line, owner), hash = mix(name);
  const std::uint32_t word = SharedSet::word_of(hash);
  const bool victims_only = settings_.last_level.inclusion == Inclusion::kVictim;
  Answer answer;
  const SharedSet set = acquire(cache, hash);
  let_others_in(cache, set, at, answer);
  if (const int found = set.way_of(word); found >= 0) {
    const auto way = static_cast<std::uint32_t>(found);
    answer.hit = true;
    if (victims_only) {  // it moves back to the second level
      answer.was_dirty = (set.words[way] & SharedSet::kDirtyWord) != 0;
      policy_->remove(set, way);
    } else {
      policy_->use(set, way);
    }
  } else if (!victims_only) {
    insert(cache, set, word, name, answer);
  }
  set.release();
  return answer;
}

Uncore::Answer Uncore::write_back(std::uint32_t cache, std::uint64_t line, std::uint32_t owner, bool dirty, Stamp at) {
  Answer answer;
  if (!dirty && settings_.last_level.inclusion != Inclusion::kVictim) return answer;
  const std::uint64_t name = named(line, owner), hash = mix(name);
  const std::uint32_t word = SharedSet::word_of(hash) | (dirty ? SharedSet::kDirtyWord : 0);
  const SharedSet set = acquire(cache, hash);
  let_others_in(cache, set, at, answer);
  if (const int way = set.way_of(word & SharedSet::kHash); way >= 0) {
    set.words[way] |= word & SharedSet::kDirtyWord;
    answer.hit = true;
  } else {
    // A dirty line whose place is gone is written here, not around the cache.
    insert(cache, set, word, name, answer);
  }
  set.release();
  return answer;
}

bool Uncore::holds(std::uint32_t cache, std::uint64_t line, std::uint32_t owner) {
  const std::uint64_t hash = mix(named(line, owner));
  const SharedSet set = acquire(cache, hash);
  const bool found = set.way_of(SharedSet::word_of(hash)) >= 0;
  set.release();
  return found;
}

bool Uncore::remove(std::uint32_t cache, std::uint64_t line, std::uint32_t owner) {
  const std::uint64_t hash = mix(named(line, owner));
  const SharedSet set = acquire(cache, hash);
  const int found = set.way_of(SharedSet::word_of(hash));
  if (found >= 0) policy_->remove(set, static_cast<std::uint32_t>(found));
  set.release();
  return found >= 0;
}

Uncore::Room Uncore::take_room(std::uint32_t domain, Stamp at) {
  std::atomic<std::uint64_t>* buckets = buckets_ + std::size_t{domain} * kBuckets;
  const std::uint64_t first = at / bucket_length_;
  std::uint32_t used_at_first = 0;
  for (std::uint64_t bucket = first;; ++bucket) {
    if (bucket - first >= kBuckets / 2) return {first, bucket, used_at_first};
    std::atomic<std::uint64_t>& word = buckets[bucket % kBuckets];
    std::uint64_t old = word.load(std::memory_order_relaxed);
    while (true) {
      // A word belongs to one turn of the ring. One of a later turn stays: what happened here is no longer known.
      const std::uint64_t number = old >> kUsedBits;
      if (number > bucket) return {first, bucket, used_at_first};
      const std::uint32_t used = number == bucket ? static_cast<std::uint32_t>(old) & kUsed : 0u;
      if (bucket == first) used_at_first = used;
      // How much of a line must fit differs evenly from bucket to bucket: on average the rate is exact.
      const auto part = static_cast<std::uint32_t>(
          std::uint64_t{static_cast<std::uint32_t>(bucket) * 0x9e3779b1u} * line_cost_ >> 32);
      if (used + part >= bucket_room_) break;
      const std::uint64_t now = bucket << kUsedBits | (used + line_cost_);
      if (word.compare_exchange_weak(old, now, std::memory_order_relaxed)) return {first, bucket, used_at_first};
    }
  }
}

Stamp Uncore::transfer(std::uint32_t domain, Stamp at) {
  if (line_cost_ == 0) return 0;
  at = time_of(at);  // a wait is whole ticks: it is added to stamps
  const auto [first, bucket, used_at_first] = take_room(domain, at);
  if (bucket > first + 1) return (bucket - 1) * bucket_length_ + bucket_length_ / 2 - at;
  // The load of the bucket before is known in full, that of this one in part: the greater one counts.
  std::uint32_t used = used_at_first;
  if (first != 0) {
    const std::uint64_t before =
        buckets_[std::size_t{domain} * kBuckets + (first - 1) % kBuckets].load(std::memory_order_relaxed);
    if (before >> kUsedBits == first - 1) used = std::max(used, static_cast<std::uint32_t>(before) & kUsed);
  }
  const double load = std::min(kMostLoad, static_cast<double>(used) / bucket_room_);
  return time_of(static_cast<Stamp>(service_ * load / (2 * (1 - load))));
}

Stamp Uncore::transfer_of_message(std::uint32_t domain, Stamp at) {
  if (line_cost_ == 0) return at;
  const Room room = take_room(domain, at);
  return std::max(at, room.bucket * bucket_length_) + static_cast<Stamp>(service_);
}

void Uncore::send_recall(std::uint32_t slot, std::uint64_t line) {
  Mailbox& box = mailboxes_[slot];
  const std::uint64_t place = box.written.fetch_add(1, std::memory_order_relaxed);
  if (place - box.read.load(std::memory_order_relaxed) >= kMailboxWords)
    box.lost.fetch_add(1, std::memory_order_release);
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
  for (std::uint32_t slot = 0; slot < settings_.slots; ++slot) lost += lost_recalls(slot);
  return lost;
}

}  // namespace manynode::node
