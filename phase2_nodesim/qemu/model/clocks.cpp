#include "clocks.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace manynode::node {
namespace {

constexpr long kNapNs = 20'000'000;  // those that are watched wake those that wait; a nap guards against a lost wake
constexpr long kLookNs = 1'000'000;  // a message of another node comes without an event here

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void nap(std::atomic<std::uint32_t>& word, std::uint32_t value, long ns) {
  const timespec limit{0, ns};
  futex(word, FUTEX_WAIT, value, &limit);
}

void raise(std::atomic<std::uint64_t>& at, std::uint64_t to) {
  std::uint64_t old = at.load();
  while (old < to && !at.compare_exchange_weak(old, to)) {
  }
}

void lower(std::atomic<std::uint64_t>& at, std::uint64_t to) {
  std::uint64_t old = at.load();
  while (old > to && !at.compare_exchange_weak(old, to)) {
  }
}

}  // namespace

Clocks::Clocks(void* memory, std::uint32_t slots, std::uint64_t quantum, double patience)
    : shared_(static_cast<Shared*>(memory)),
      slots_(reinterpret_cast<Slot*>(shared_ + 1)),
      count_(slots),
      quantum_(quantum),
      patience_(patience),
      passed_(std::make_unique<std::atomic<std::uint64_t>[]>(slots)) {}

bool Clocks::join(std::uint32_t ranks, double seconds) {
  shared_->joined.fetch_add(1);
  futex(shared_->joined, FUTEX_WAKE, INT_MAX, nullptr);
  const double end = seconds_now() + seconds;
  for (;;) {
    const std::uint32_t joined = shared_->joined.load();
    if (joined >= ranks) return true;
    if (seconds_now() > end) return false;
    nap(shared_->joined, joined, kNapNs);
  }
}

void Clocks::note_event(std::uint64_t clock) {
  raise(shared_->event_clock, clock);
  shared_->event.fetch_add(1);
  futex(shared_->event, FUTEX_WAKE, INT_MAX, nullptr);
}

// Wakes those that sleep for this core, if it has come far enough for one of them or `always`.
void Clocks::announce(Slot& slot, bool always) {
  if (slot.watchers.load() == 0) return;
  if (!always && slot.clock.load() < slot.needed.load()) return;
  slot.needed.store(UINT64_MAX);
  slot.round.fetch_add(1);
  futex(slot.round, FUTEX_WAKE, INT_MAX, nullptr);
}

void Clocks::set_state(std::uint32_t slot, CoreState state) {
  slots_[slot].state.store(static_cast<std::uint32_t>(state));
  slots_[slot].changes.fetch_add(1);
  announce(slots_[slot], true);
}

std::uint64_t Clocks::begin(std::uint32_t slot, std::uint64_t clock) {
  if (quantum_ == 0) return clock;
  if (slots_[slot].has_waited.exchange(0) != 0) clock = std::max(clock, shared_->event_clock.load());
  slots_[slot].clock.store(clock);
  set_state(slot, CoreState::kComputes);
  note_event(clock);
  return clock;
}

void Clocks::end(std::uint32_t slot, std::uint64_t clock, bool blind) {
  if (quantum_ == 0) return;
  slots_[slot].clock.store(clock);
  raise(shared_->event_clock, clock);  // this call may send what others wait for
  if (blind) slots_[slot].has_waited.store(1);
  set_state(slot, blind ? CoreState::kBlind : CoreState::kInCall);
}

std::uint64_t Clocks::inside(std::uint32_t slot, std::uint64_t clock) const {
  const bool waited = quantum_ != 0 && slots_[slot].has_waited.load() != 0;
  return waited ? std::max(clock, shared_->event_clock.load()) : clock;
}

void Clocks::look(std::uint32_t slot) {
  if (quantum_ == 0) return;
  slots_[slot].polled.store(shared_->event.load());
}

void Clocks::looked_in_vain(std::uint32_t slot) {
  if (quantum_ == 0) {
    const timespec pause{0, kLookNs / 5};
    nanosleep(&pause, nullptr);
    return;
  }
  Slot& own = slots_[slot];
  const std::uint32_t polled = own.polled.load();
  own.has_waited.store(1);
  own.acknowledged.store(polled);
  set_state(slot, CoreState::kWaits);
  nap(shared_->event, polled, kLookNs);
}

void Clocks::leave(std::uint32_t slot) {
  if (quantum_ == 0) return;
  set_state(slot, CoreState::kOut);
  note_event(slots_[slot].clock.load());
}

void Clocks::thread_begins(std::uint32_t slot, std::uint64_t clock) {
  if (quantum_ == 0) return;
  slots_[slot].clock.store(clock);
  set_state(slot, CoreState::kComputes);
}

void Clocks::thread_stops(std::uint32_t slot, std::uint64_t clock) {
  if (quantum_ == 0) return;
  slots_[slot].clock.store(clock);
  set_state(slot, CoreState::kOut);
}

// The core furthest behind among those that hold back a core at `clock`. A core never goes on before its clock: one
// that is less than a quantum behind holds nobody, whatever it does.
Clocks::Holder Clocks::holder(std::uint32_t slot, std::uint64_t clock) const {
  const std::uint32_t event = shared_->event.load();
  Holder found;
  std::uint64_t behind = UINT64_MAX;
  for (std::uint32_t other = 0; other < count_; ++other) {
    if (other == slot) continue;
    const Slot& candidate = slots_[other];
    const std::uint64_t at = candidate.clock.load();
    if (at + quantum_ >= clock) continue;
    switch (static_cast<CoreState>(candidate.state.load())) {
      case CoreState::kComputes:
      case CoreState::kInCall:
        break;
      case CoreState::kWaits:
        if (candidate.acknowledged.load() == event) continue;
        break;
      case CoreState::kOut:
      case CoreState::kBlind:
        continue;
    }
    if (passed_[other].load(std::memory_order_relaxed) == std::uint64_t{candidate.changes.load()} + 1) {
      found.passed = true;
    } else if (at < behind) {
      behind = at;
      found.slot = static_cast<int>(other);
    }
  }
  return found;
}

std::uint64_t Clocks::advance(std::uint32_t slot, std::uint64_t clock) {
  if (quantum_ == 0) return UINT64_MAX;
  Slot& own = slots_[slot];
  own.clock.store(clock);
  announce(own, false);
  own.synchronisations.fetch_add(1, std::memory_order_relaxed);
  double began = 0;
  for (;;) {
    const auto [behind, passed] = holder(slot, clock);
    if (behind < 0) {
      if (passed) own.forced.fetch_add(1, std::memory_order_relaxed);
      break;
    }
    const double now = seconds_now();
    if (began == 0) {
      began = now;
      own.waits.fetch_add(1, std::memory_order_relaxed);
    }
    Slot& watched = slots_[behind];
    if (now - began > patience_) {
      passed_[behind].store(std::uint64_t{watched.changes.load()} + 1, std::memory_order_relaxed);
      continue;
    }
    watched.watchers.fetch_add(1);
    const std::uint32_t round = watched.round.load();
    lower(watched.needed, clock > quantum_ ? clock - quantum_ : 0);
    // It may have gone on meanwhile, or wait for messages that an event has brought.
    if (holder(slot, clock).slot == behind) nap(watched.round, round, kNapNs);
    watched.watchers.fetch_sub(1);
  }
  if (began != 0) {
    own.waited_ns.fetch_add(static_cast<std::uint64_t>(1e9 * (seconds_now() - began)), std::memory_order_relaxed);
  }
  return clock + quantum_ / 2 + 1;
}

Clocks::Counts Clocks::counts(std::uint32_t slot) const {
  const Slot& own = slots_[slot];
  return {own.synchronisations.load(), own.waits.load(), own.forced.load(),
          1e-9 * static_cast<double>(own.waited_ns.load())};
}

}  // namespace manynode::node
