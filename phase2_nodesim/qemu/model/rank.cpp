#include "rank.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace manynode::node {
namespace {

// The ranks of a job start within seconds of each other; under an emulator, on a busy host, MPI_Init takes longer.
constexpr double kSecondsToJoin = 600;

constexpr const char* kNames[] = {"ticks",         "instructions", "loads",      "stores",    "branches",
                                  "branch_misses", "l1i_misses",   "l1d_misses", "l2_misses", "last_level_misses",
                                  "tlb_misses",    "page_walks",   "prefetches", "recalls",   "memory_lines"};
// A run without times has the first ones.
constexpr int kCountsOnly = 5;

Stamp ticks(Stamp stamp) { return stamp / kTick; }

}  // namespace

Rank::Rank(RunFile run, std::uint32_t world_rank, mn_page* page)
    : run_(std::move(run)), world_rank_(world_rank), local_(world_rank - run_.first_rank), page_(page) {
  if (world_rank < run_.first_rank || local_ >= run_.ranks) {
    throw std::runtime_error("rank " + std::to_string(world_rank) + " is not one of the node's ranks " +
                             std::to_string(run_.first_rank) + " to " +
                             std::to_string(run_.first_rank + run_.ranks - 1));
  }
  main_.slot = local_ * run_.threads;
  name_counters();
  if (run_.counts_only) {
    own_ = SharedMemory("", Clocks::bytes(run_.ranks));
    clocks_ = std::make_unique<Clocks>(own_.data(), run_.ranks, 0);
    main_.slot = local_;
    return;
  }
  const NodeSettings& node = run_.node;
  const std::size_t clock_bytes = (Clocks::bytes(node.slots) + 63) / 64 * 64;
  shared_ = SharedMemory(run_.shared_memory, clock_bytes + (run_.shares ? Uncore::bytes(node) : 0));
  clocks_ = std::make_unique<Clocks>(shared_.data(), node.slots, node.quantum_cycles * node.core.width);
  if (!run_.shares) own_ = SharedMemory("", Uncore::bytes(node));
  const bool alone = run_.threads == 1 && (run_.ranks == 1 || !run_.shares);
  uncore_ = std::make_unique<Uncore>(node, run_.shares ? shared_.data() + clock_bytes : own_.data(), alone);
  const std::uint32_t slot = main_.slot;
  const bool several_domains = std::any_of(&run_.domain_of_slot[slot], &run_.domain_of_slot[slot] + run_.threads,
                                           [&](std::uint32_t domain) { return domain != run_.domain_of_slot[slot]; });
  main_.core = std::make_unique<Core>(
      node, *uncore_,
      Place{slot, slot, run_.last_level_of_slot[slot], run_.domain_of_slot[slot], several_domains ? &pages_ : nullptr});
  // It is at the end of MPI_Init: ranks that are there earlier do not run ahead.
  clocks_->end(slot, 0, false);
  if (!run_.shared_memory.empty()) {
    if (!clocks_->join(run_.ranks, kSecondsToJoin)) {
      throw std::runtime_error("not all ranks of the node have come to the end of MPI_Init within 10 minutes");
    }
    // All have it open: nothing is left behind, however the job ends.
    unlink(run_.shared_memory.c_str());
  }
}

void Rank::name_counters() {
  page_->version = MN_PAGE_VERSION;
  page_->count = run_.counts_only ? kCountsOnly : kCounters + kCauses;
  for (int i = 0; i < static_cast<int>(page_->count); ++i) {
    const std::string name = i < kCounters ? kNames[i] : std::string("ticks_") + kCauseNames[i - kCounters];
    std::strncpy(page_->names[i], name.c_str(), MN_PAGE_NAME - 1);
  }
  page_->magic = MN_PAGE_MAGIC;
}

// The rank's counters since its start. Times and their causes are the main thread's, which waits for the others.
std::array<std::uint64_t, Rank::kCounters + kCauses> Rank::values() const {
  std::array<std::uint64_t, kCounters + kCauses> to{};
  const auto add = [&](const Thread& thread) {
    const CoreCounts& counts = thread.core == nullptr ? thread.counted : thread.core->counts;
    to[1] += counts.instructions;
    to[2] += counts.loads;
    to[3] += counts.stores;
    to[4] += counts.branches;
    to[5] += counts.branch_misses;
    if (thread.core == nullptr) return;
    const MemoryCounts& memory = thread.core->memory.counts;
    int at = 6;
    for (const std::uint64_t count :
         {memory.l1i_misses, memory.l1d_misses, memory.l2_misses, memory.last_level_misses, memory.tlb_misses,
          memory.page_walks, memory.prefetches, memory.recalls, memory.memory_lines}) {
      to[at++] += count;
    }
  };
  add(main_);
  {
    const std::scoped_lock lock(threads_mutex_);  // a thread may begin at this moment
    for (const auto& thread : others_) add(*thread);
  }
  if (main_.core == nullptr) return to;
  to[0] = ticks(main_.core->now());
  for (int cause = 0; cause < kCauses; ++cause) to[kCounters + cause] = main_.core->counts.stack[cause];
  return to;
}

void Rank::start() {
  if (main_.core != nullptr) {
    const std::uint64_t now = ticks(main_.core->now());
    const std::uint64_t begin = clocks_->begin(main_.slot, now);
    main_.core->idle_until(begin * kTick);
    main_.next_advance = begin;
  }
  at_start_ = values();
  main_.block = nullptr;
  main_.timed = true;
}

void Rank::stop(bool blind) {
  if (!main_.timed) return;
  main_.timed = false;
  main_.block = nullptr;
  ++phases_;
  if (main_.core != nullptr) main_.core->drain();
  const auto now = values();
  const auto count = static_cast<int>(page_->count);
  for (int i = 0; i < count; ++i) page_->values[i] = now[i] - at_start_[i];
  if (main_.core == nullptr) return;
  for (int i = kCounters; i < count; ++i) page_->values[i] = ticks(page_->values[i]);
  clocks_->end(main_.slot, ticks(main_.core->now()), blind);
}

void Rank::looked_in_vain() {
  if (left_) {  // recording has ended before the program: it holds nobody any more
    const timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
    return;
  }
  clocks_->looked_in_vain(main_.slot);
}

void Rank::leave() {
  if (left_) return;
  left_ = true;
  main_.timed = false;
  clocks_->leave(main_.slot);
  const std::scoped_lock lock(threads_mutex_);
  for (const auto& thread : others_) clocks_->leave(thread->slot);
}

void Rank::inject(std::uint64_t address, std::uint64_t bytes, bool write) {
  if (main_.core == nullptr || bytes == 0) return;
  injected_ += bytes;
  const std::uint64_t now = clocks_->inside(main_.slot, ticks(main_.core->now()));
  main_.core->memory.inject(address, bytes, write, now * kTick);
}

Thread* Rank::add_thread() {
  const std::scoped_lock lock(threads_mutex_);
  Thread* thread = nullptr;
  if (!ended_.empty()) {
    thread = ended_.back();
    ended_.pop_back();
  } else if (threads_ >= run_.threads) {
    ++threads_too_many_;
    return nullptr;
  } else {
    others_.push_back(std::make_unique<Thread>());
    thread = others_.back().get();
    thread->slot = main_.slot + threads_++;
    if (!run_.counts_only) {
      thread->core = std::make_unique<Core>(run_.node, *uncore_,
                                            Place{thread->slot, main_.slot, run_.last_level_of_slot[thread->slot],
                                                  run_.domain_of_slot[thread->slot], &pages_});
    }
  }
  if (thread->core != nullptr) {
    const Stamp begin = std::max(latest_.load(), main_.core->now());
    thread->core->idle_until(begin);
    thread->next_advance = 0;
    clocks_->thread_begins(thread->slot, ticks(begin));
  }
  thread->timed = true;
  return thread;
}

// A thread that blocks has perhaps let another one go on before: that one continues no earlier than this moment.
void Rank::thread_blocks(Thread& thread) {
  if (thread.core == nullptr || run_.threads == 1) return;
  thread_wakes(thread);
  thread.blocked = true;
  clocks_->thread_stops(thread.slot, ticks(thread.core->now()));
}

void Rank::thread_wakes(Thread& thread) {
  if (thread.core == nullptr || run_.threads == 1) return;
  Stamp old = latest_.load();
  while (old < thread.core->now() && !latest_.compare_exchange_weak(old, thread.core->now())) {
  }
}

void Rank::thread_goes_on(Thread& thread) {
  if (!thread.blocked) return;
  thread.blocked = false;
  thread.core->idle_until(latest_.load());
  clocks_->thread_begins(thread.slot, ticks(thread.core->now()));
}

void Rank::thread_ends(Thread& thread) {
  thread.timed = thread.blocked = false;
  thread.block = nullptr;
  thread_wakes(thread);
  clocks_->thread_stops(thread.slot, thread.core == nullptr ? 0 : ticks(thread.core->now()));
  const std::scoped_lock lock(threads_mutex_);
  ended_.push_back(&thread);
}

void Rank::run(Thread& thread, std::size_t end) {
  const Block& block = *thread.block;
  if (thread.core != nullptr) {
    thread.core->run(block, thread.next, end);
  } else {
    for (std::size_t number = thread.next; number < end; ++number) {
      const Piece& piece = block.pieces[number];
      thread.counted.instructions += static_cast<std::uint64_t>(piece.end - piece.begin);
      thread.counted.loads += piece.loads;
      thread.counted.stores += piece.stores;
    }
  }
  thread.next = end;
}

void Rank::enter_counted(Thread& thread, const Block* block) {
  const Block* const before = thread.block;
  run(thread, before->pieces.size());
  thread.counted.branches += before->ending != Ending::kNone;
  thread.block = block;
  thread.next = 0;
}

[[gnu::noinline]] void Rank::synchronise(Thread& thread) {
  thread.next_advance = clocks_->advance(thread.slot, ticks(thread.core->now()));
  thread.core->memory.give_up_recalled(thread.core->now());
}

std::string Rank::report(std::uint64_t unknown_instructions) const {
  nlohmann::json json{{"schema", "node-report/1"},
                      {"rank", world_rank_},
                      {"phases", phases_},
                      {"threads", threads_},
                      {"threads_too_many", threads_too_many_},
                      {"injected_bytes", injected_},
                      {"unknown_instructions", unknown_instructions}};
  if (main_.core != nullptr) {
    Clocks::Counts counts = clocks_->counts(main_.slot);
    for (const auto& thread : others_) counts += clocks_->counts(thread->slot);
    json["clocks"] = {{"synchronisations", counts.synchronisations},
                      {"waits", counts.waits},
                      {"released_by_time_out", counts.forced},
                      {"waited_s", counts.waited_s}};
    json["lost_recalls"] = uncore_->lost_recalls();
    json["broken_locks"] = uncore_->broken_locks();
  }
  return json.dump(1);
}

}  // namespace manynode::node
