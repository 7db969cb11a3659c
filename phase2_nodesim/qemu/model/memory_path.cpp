#include "memory_path.hpp"

#include <algorithm>

namespace manynode::node {
namespace {

std::uint64_t lines_per_page(const NodeSettings& settings) {
  return std::uint64_t{1} << (settings.translation.page_bits - settings.line_bits);
}

// Page tables lie apart from the program's pages.
constexpr std::uint64_t kTables = std::uint64_t{1} << 40;
constexpr int kEntriesPerLine = 3;  // 8 page-table entries of 8 bytes: a shift

}  // namespace

MemoryPath::MemoryPath(const NodeSettings& settings, Uncore& uncore, Place place, const Stamp& now)
    : line_bits_(static_cast<int>(settings.line_bits)),
      page_bits_(static_cast<int>(settings.translation.page_bits)),
      tlb_bits_(settings.translation.present ? page_bits_ : 63),
      l1d_(settings.l1d.sets, settings.l1d.ways),
      data_tlb_(settings.translation.data.sets, settings.translation.data.ways),
      l1i_(settings.l1i.sets, settings.l1i.ways),
      l2_(settings.has_l2 ? settings.l2.sets : 1, settings.has_l2 ? settings.l2.ways : 1),
      code_tlb_(settings.translation.code.sets, settings.translation.code.ways),
      second_tlb_(settings.translation.second.sets, settings.translation.second.ways),
      now_(now),
      settings_(settings),
      uncore_(uncore),
      place_(place),
      l1_latency_(settings.core.cycles(settings.l1d.latency_cycles)),
      l2_latency_(settings.core.cycles(settings.l2.latency_cycles)),
      last_level_latency_(settings.core.cycles(settings.last_level.latency_cycles)),
      memory_latency_(settings.core.cycles(settings.memory.latency_cycles)),
      remote_latency_(settings.core.cycles(settings.memory.remote_cycles)),
      second_tlb_latency_(settings.core.cycles(settings.translation.second_cycles)),
      walk_latency_(settings.core.cycles(settings.translation.walk_cycles)),
      vector_latency_(settings.core.cycles(settings.core.vector_load_latency)),
      forward_latency_(settings.core.cycles(settings.core.forward_latency)),
      vector_forward_latency_(settings.core.cycles(settings.core.vector_forward_latency)),
      forwarded_late_(std::max({forward_latency_, vector_forward_latency_, l1_latency_}) - l1_latency_),
      fill_buffers_(settings.fill_buffers),
      l2_fill_buffers_(settings.l2_fill_buffers),
      from_l2_(settings.core.cycles(settings.has_l2 ? settings.l2.line_interval : 0), settings.core.cycles(1)),
      from_last_level_(settings.core.cycles(settings.last_level.line_interval), settings.core.cycles(1)),
      to_l2_(settings.core.cycles(settings.has_l2 ? settings.l2.write_interval : 0)),
      l1_prefetcher_(settings.l1d.prefetch, lines_per_page(settings)),
      l2_prefetcher_(settings.has_l2 ? settings.l2.prefetch : Prefetch::kNone, lines_per_page(settings)) {
  page_of_frame_.fill(0);
}

// ---- while the block executes -----------------------------------------------------------------------------------

// Its line may still be on its way.
void MemoryPath::load_pending(std::uint64_t address, std::uint16_t instruction) {
  const std::uint64_t line = address >> line_bits_;
  const Arrival& arrival = arrivals_[line % kArrivals];
  if (arrival.line != line || arrival.at <= now_) return look_at_line(address, instruction, false);
  loads.add(address, kAbsent, instruction, Access::kHeld);
}

// Its page is not at the front of its set.
void MemoryPath::load_other_page(std::uint64_t address, std::uint16_t instruction) {
  const std::uint64_t page = address >> tlb_bits_;
  const bool found = data_tlb_.take(page, page).found;
  if (!found && settings_.translation.present) return look_in_cache(address, instruction, false, Access::kTlbMissed);
  load_from_line(address, instruction);
}

// Its line is not at the front of its set.
void MemoryPath::load_behind(std::uint64_t address, std::uint16_t instruction) {
  const std::uint64_t line = address >> line_bits_;
  const auto [word, found, replaced] = l1d_.take(line, line | kPending);
  if (!found) return load_missed(address, replaced, instruction);
  const std::uint64_t flags = *word & (kPending | kPrefetched);
  if (flags == 0) return;
  if (flags == kPending) return load_pending(address, instruction);
  look_at_line(address, instruction, false);
}

[[gnu::noinline]] void MemoryPath::load_missed(std::uint64_t address, std::uint64_t victim, std::uint16_t instruction) {
  loads.add(address, victim, instruction, Access::kMissed);
  miss_begins(address >> line_bits_);
}

void MemoryPath::look(std::uint64_t address, std::uint32_t size, std::uint16_t instruction, bool store) {
  const std::uint64_t last = address + size - 1;
  if (last >> line_bits_ != address >> line_bits_) {
    look_at_line(address, instruction, store);
    address = last;
  }
  look_at_line(address, instruction, store);
}

[[gnu::noinline]] void MemoryPath::look_at_line(std::uint64_t address, std::uint16_t instruction, bool store) {
  const std::uint64_t page = address >> tlb_bits_;
  const bool known = data_tlb_.front(page) == page || data_tlb_.take(page, page).found;
  look_in_cache(address, instruction, store,
                known || !settings_.translation.present ? std::uint8_t{0} : std::uint8_t{Access::kTlbMissed});
}

[[gnu::noinline]] void MemoryPath::look_in_cache(std::uint64_t address, std::uint16_t instruction, bool store,
                                                 std::uint8_t what) {
  std::uint64_t victim = kAbsent;
  const std::uint64_t line = address >> line_bits_;
  const auto [word, found, replaced] = l1d_.take(line, line | kPending | (store ? kDirty : 0));
  if (!found) {
    what |= Access::kMissed;
    victim = replaced;
    miss_begins(line);
  } else {
    if ((*word & kPending) != 0) {
      const Arrival& arrival = arrivals_[line % kArrivals];
      if (arrival.line != line || arrival.at <= now_) *word &= ~kPending;
    }
    if ((*word & (kPending | kPrefetched)) != 0) what |= Access::kHeld;
    if ((*word & kPrefetched) != 0) what |= Access::kFirstUse;
    if (store) *word |= kDirty;
  }
  if (store) {
    stores.add(address, victim, instruction, what);
    return;
  }
  if (stored_[(address >> 3) % kStored].word == address >> 3) what |= Access::kForwarded;
  if (what != 0) loads.add(address, victim, instruction, what);
}

[[gnu::noinline]] void MemoryPath::miss_begins(std::uint64_t line) {
  ++counts.l1d_misses;
  arrivals_[line % kArrivals] = {line, now_ + kTick};  // until the miss is worked out
  // This host fetches the sets that will be looked up: those for now, and in time the next one of a stream.
  const std::uint64_t frame = physical(line);
  l2_.announce(frame);
  uncore_.announce(place_.last_level, frame, place_.owner);
  uncore_.announce(place_.last_level, frame + 1, place_.owner);
}

// ---- when its times are worked out ------------------------------------------------------------------------------

Stamp MemoryPath::translate(const Access& access, Stamp at) {
  return (access.what & Access::kTlbMissed) != 0 ? translate_slowly(access.address >> page_bits_, at) : at;
}

Stamp MemoryPath::access(const Access& access, std::uint64_t code, Stamp at) {
  const std::uint64_t line = access.address >> line_bits_;
  if ((access.what & Access::kMissed) != 0) return miss(line, access.victim, code, at);
  Stamp got = at + l1_latency_;
  if ((access.what & Access::kHeld) != 0) {
    const Arrival& arrival = arrivals_[line % kArrivals];
    if (arrival.line == line && arrival.at > got) got = arrival.at;
    std::uint64_t* word = l1d_.peek(line);
    if (word != nullptr && (*word & kPrefetched) != 0) {
      *word &= ~kPrefetched;
      prefetch_to_l1(code, line, at);
    }
  }
  return got;
}

Stamp MemoryPath::finish_load_slowly(const Access& noted, std::uint64_t code, Stamp at, bool vector) {
  const Stamp translated = translate(noted, at);
  if (translated != at) note(Cause::kTlb, translated);
  Stamp got = std::max(access(noted, code, translated), at + hit_latency(vector));
  if ((noted.what & Access::kForwarded) != 0) {
    Stored& stored = stored_[(noted.address >> 3) % kStored];
    if (stored.word == noted.address >> 3) {
      got = std::max(got, stored.ready + (vector ? vector_forward_latency_ : forward_latency_));
      if (stored.ready + forwarded_late_ <= now_) stored.word = ~std::uint64_t{0};
    }
  }
  return got;
}

Stamp MemoryPath::finish_store(const Access& noted, std::uint64_t code, Stamp at, Stamp retired) {
  Stored& stored = stored_[(noted.address >> 3) % kStored];
  if (at + forwarded_late_ > now_) {
    stored = {noted.address >> 3, at};
  } else if (stored.word == noted.address >> 3) {
    stored.word = ~std::uint64_t{0};
  }
  // Intel's optimization manual (stores of Sandy Bridge): "Reading for ownership and storing the data happens after
  // instruction retirement". gem5 does the same.
  return noted.what == 0 ? 0 : access(noted, code, translate(noted, std::max(now_, time_of(retired))));
}

Stamp MemoryPath::translate_slowly(std::uint64_t page, Stamp at) {
  ++counts.tlb_misses;
  if (second_tlb_.find(page) != nullptr) {
    at += second_tlb_latency_;
  } else {
    ++counts.page_walks;
    second_tlb_.insert(page);
    // The upper levels are in the walker's own caches; the entry itself is a load past the first level.
    const std::uint64_t line = kTables + (page >> kEntriesPerLine);
    at = from_l2(physical(line), page, 0, Why::kData, at + second_tlb_latency_ + walk_latency_);
  }
  return stamped(at, Cause::kTlb);
}

Stamp MemoryPath::translate_code_slowly(std::uint64_t page, Stamp now) {
  if (!settings_.translation.present) {
    code_tlb_.front(page) = page;
    return 0;
  }
  if (code_tlb_.find(page) != nullptr) return 0;
  code_tlb_.insert(page);
  return time_of(translate_slowly(page, now)) - now;
}

Stamp MemoryPath::fetch_slowly(std::uint64_t line, Stamp now) {
  if (l1i_.find(line) != nullptr) return 0;
  ++counts.l1i_misses;
  l1i_.insert(line);
  return time_of(from_l2(physical(line), line >> (page_bits_ - line_bits_), 0, Why::kCode, now)) - now;
}

// A miss of the first level: it needs a fill buffer, and the line from further out.
Stamp MemoryPath::miss(std::uint64_t line, std::uint64_t victim, std::uint64_t code, Stamp at) {
  const Stamp begin = std::max(at, fill_buffers_.free_at());
  replaced_in_l1(victim, begin);
  const Stamp got = from_l2(physical(line), line >> (page_bits_ - line_bits_), code, Why::kData, begin);
  ++counts.l1d_fills;
  fill_buffers_.take(got);
  arrivals_[line % kArrivals] = {line, got};
  if (l1_prefetcher_.learns()) prefetch_to_l1(code, line, begin);
  return got;
}

Stamp MemoryPath::from_l2(std::uint64_t line, std::uint64_t page, std::uint64_t code, Why why, Stamp at) {
  std::uint64_t taken = line | kPending;
  if (!settings_.has_l2) return from_last_level(taken, page, why, at);
  at += from_l2_.take(at);
  Stamp got = 0;
  if (std::uint64_t* word = l2_.find(line)) {
    got = stamped(at + l2_latency_, Cause::kL2);
    if (why != Why::kPrefetch) note(Cause::kL2, got);
    if ((*word & kPending) != 0) {
      const Arrival& arrival = l2_arrivals_[line % kL2Arrivals];
      if (arrival.line == line && arrival.at > at) {
        got = std::max(got, arrival.at);
      } else {
        *word &= ~kPending;
      }
    }
    *word &= ~kPrefetched;
  } else {
    counts.l2_misses += why != Why::kPrefetch;
    got = from_last_level(taken, page, why, std::max(at, l2_fill_buffers_.free_at()));
    l2_fill_buffers_.take(got);
    l2_arrivals_[line % kL2Arrivals] = {line, got};
    replaced_in_l2(l2_.insert(taken), at);
  }
  if (why != Why::kCode && l2_prefetcher_.learns()) prefetch_to_l2(code, line, page, at);
  return got;
}

// `taken` is the word of the line for the second level: dirty where it leaves a victim cache dirty.
Stamp MemoryPath::from_last_level(std::uint64_t& taken, std::uint64_t page, Why why, Stamp at) {
  give_up_recalled(at);
  const bool demand = why != Why::kPrefetch;
  // As in miss_begins: the next line of a stream that is fetched ahead.
  if (!demand) uncore_.announce(place_.last_level, (taken & kNumber) + 1, place_.owner);
  at += from_last_level_.take(at);
  const Uncore::Answer answer = uncore_.read(place_.last_level, taken & kNumber, place_.owner, at);
  if (answer.hit) {
    replaced_in_last_level(answer, at);
    if (answer.was_dirty) taken |= kDirty;
    const Stamp got = stamped(at + last_level_latency_, Cause::kLastLevel);
    if (demand) note(Cause::kLastLevel, got);
    return got;
  }
  counts.last_level_misses += demand;
  ++counts.memory_lines;
  const std::uint32_t home = place_.pages == nullptr ? place_.domain : place_.pages->domain_of(page, place_.domain);
  const Stamp unloaded = at + (home == place_.domain ? memory_latency_ : remote_latency_);
  const Stamp waits = uncore_.transfer(home, at);
  const Stamp got = stamped(unloaded + waits, waits > memory_latency_ / 16 ? Cause::kBandwidth : Cause::kMemory);
  if (demand) {
    bandwidth_wait_ = waits;
    note(Cause::kMemory, unloaded);
    note(Cause::kBandwidth, got);
  }
  replaced_in_last_level(answer, at);
  return got;
}

// ---- what makes room --------------------------------------------------------------------------------------------

void MemoryPath::replaced_in_l1(std::uint64_t victim, Stamp at) {
  if ((victim & kDirty) == 0) return;
  from_l2_.keep(at, to_l2_);
  const std::uint64_t line = physical(victim & kNumber);
  if (settings_.has_l2) {
    if (std::uint64_t* word = l2_.peek(line)) {
      *word |= kDirty;
      return;
    }
  }
  const Uncore::Answer answer = uncore_.write_back(place_.last_level, line, place_.owner, true, at);
  replaced_in_last_level(answer, at);
}

void MemoryPath::replaced_in_l2(std::uint64_t victim, Stamp at) {
  if ((victim & kNumber) == kAbsent) return;
  const bool dirty = (victim & kDirty) != 0;
  const Uncore::Answer answer = uncore_.write_back(place_.last_level, victim & kNumber, place_.owner, dirty, at);
  replaced_in_last_level(answer, at);
}

void MemoryPath::replaced_in_last_level(const Uncore::Answer& answer, Stamp at) {
  for (std::uint32_t written = answer.written + answer.replaces_dirty; written > 0; --written) {
    ++counts.memory_lines;
    uncore_.transfer(place_.domain, at);
  }
  if (answer.victim == 0) return;
  const std::uint32_t owner = owner_of(answer.victim);
  const std::uint64_t line = answer.victim & kPhysicalLine;
  const bool written = answer.replaces_dirty;
  if (owner == place_.owner) drop(line, at, written);
  if (owner != place_.slot) uncore_.send_recall(owner, line | (written ? kDirty : 0));
}

// ---- prefetches and addresses -----------------------------------------------------------------------------------

void MemoryPath::prefetch_to_l1(std::uint64_t code, std::uint64_t line, Stamp at) {
  Prefetcher::Lines lines;
  const int count = l1_prefetcher_.learn(code, line, lines);
  for (int i = 0; i < count; ++i) {
    if (l1d_.peek(lines[i]) != nullptr) continue;
    if (fill_buffers_.free_at() > at) return l1_prefetcher_.dropped(lines[i]);
    ++counts.prefetches;
    const std::uint64_t page = lines[i] >> (page_bits_ - line_bits_);
    const Stamp got = from_l2(physical(lines[i]), page, code, Why::kPrefetch, at);
    ++counts.l1d_fills;
    fill_buffers_.take(got);
    arrivals_[lines[i] % kArrivals] = {lines[i], got};
    replaced_in_l1(l1d_.insert(lines[i] | kPending | kPrefetched), at);
  }
}

void MemoryPath::prefetch_to_l2(std::uint64_t code, std::uint64_t line, std::uint64_t page, Stamp at) {
  Prefetcher::Lines lines;
  const int count = l2_prefetcher_.learn(code, line, lines);
  for (int i = 0; i < count; ++i) {
    if (l2_.peek(lines[i]) != nullptr) continue;
    if (l2_fill_buffers_.free_at() > at) return l2_prefetcher_.dropped(lines[i]);
    ++counts.prefetches;
    std::uint64_t taken = lines[i] | kPending | kPrefetched;
    const Stamp got = from_last_level(taken, page, Why::kPrefetch, at);
    l2_fill_buffers_.take(got);
    l2_arrivals_[lines[i] % kL2Arrivals] = {lines[i], got};
    replaced_in_l2(l2_.insert(taken), at);
  }
}

// The physical line of a virtual one: pages lie in frames chosen by a hash of seed, rank and page.
std::uint64_t MemoryPath::physical(std::uint64_t line) {
  if (!settings_.frames_by_hash) return line & kPhysicalLine;
  const int shift = page_bits_ - line_bits_;
  const std::uint64_t page = line >> shift;
  Frame& frame = frames_[page % kFrames];
  if (frame.page != page) {
    const std::uint64_t hash = mix(mix(page + settings_.seed * 0x9e3779b97f4a7c15u) + place_.owner);
    frame = {page, (hash << shift) & kPhysicalLine};
    page_of_frame_[(frame.first_line >> shift) % kReverse] = page;
  }
  return frame.first_line | (line & ((std::uint64_t{1} << shift) - 1));
}

}  // namespace manynode::node
