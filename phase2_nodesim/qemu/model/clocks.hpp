// The simulated clocks of a node's cores, kept within a quantum of each other. The ranks of a node are processes; the
// clocks lie in memory that they share.
//
// A core that computes goes at most a quantum beyond the slowest other one that computes. A rank inside MPI has no
// clock: its time is the network's, not the node's. It must still not be overtaken while it is about to compute again,
// or ranks would compute one after the other in simulated time. It therefore holds the others at the edge of the
// quantum until it is known to wait: until it has looked for its messages in vain since the last MPI call of any rank
// ended (an event). A rank that waits without looking says so (kBlind), or is passed after a time-out, until it does
// something. Synchronisations that passed a rank are counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace manynode::node {

enum class CoreState : std::uint32_t { kOut, kComputes, kInCall, kWaits, kBlind };

class Clocks {
 public:
  static std::size_t bytes(std::uint32_t slots) { return sizeof(Shared) + slots * sizeof(Slot); }

  // Seconds before a core that neither computes nor looks is passed.
  static constexpr double kPatience = 5.0;

  // On zeroed memory shared by `slots` cores. A quantum of 0 lets every core run for itself. Times are in ticks.
  Clocks(void* memory, std::uint32_t slots, std::uint64_t quantum, double patience = kPatience);

  // Waits until `ranks` ranks have come here; false after `seconds`.
  bool join(std::uint32_t ranks, double seconds);

  // A rank leaves an MPI call and computes. Returns its clock: where it has waited, others' work has let it go on.
  std::uint64_t begin(std::uint32_t slot, std::uint64_t clock);
  // A rank enters an MPI call; `blind`: it may wait there without looking.
  void end(std::uint32_t slot, std::uint64_t clock, bool blind);
  // Around each look for a message, and after one in vain: sleeps until something may have happened.
  void look(std::uint32_t slot);
  void looked_in_vain(std::uint32_t slot);
  // Where the core stands at `clock` inside its call: where it has waited, others' work has let it go on.
  std::uint64_t inside(std::uint32_t slot, std::uint64_t clock) const;
  // The rank makes no more calls.
  void leave(std::uint32_t slot);

  // A thread starts or goes on, not before `clock`; it stops (blocked, or ended).
  void thread_begins(std::uint32_t slot, std::uint64_t clock);
  void thread_stops(std::uint32_t slot, std::uint64_t clock);

  // The core has reached `clock`: waits for those behind. Returns the clock at which to call again.
  std::uint64_t advance(std::uint32_t slot, std::uint64_t clock);

  struct Counts {
    std::uint64_t synchronisations = 0, waits = 0, forced = 0;
    double waited_s = 0;
    Counts& operator+=(const Counts& other) {
      synchronisations += other.synchronisations;
      waits += other.waits;
      forced += other.forced;
      waited_s += other.waited_s;
      return *this;
    }
  };
  Counts counts(std::uint32_t slot) const;

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> clock, needed;
    std::atomic<std::uint32_t> state, acknowledged, polled, has_waited;
    std::atomic<std::uint32_t> round, watchers, changes;
    std::atomic<std::uint64_t> synchronisations, waits, forced, waited_ns;
  };
  struct alignas(64) Shared {
    std::atomic<std::uint32_t> joined;
    alignas(64) std::atomic<std::uint32_t> event;
    alignas(64) std::atomic<std::uint64_t> event_clock;
  };

  struct Holder {
    int slot = -1;
    bool passed = false;  // it, or another one, has been passed after a time-out
  };
  Holder holder(std::uint32_t slot, std::uint64_t clock) const;
  void announce(Slot& slot, bool always);
  void note_event(std::uint64_t clock);
  void set_state(std::uint32_t slot, CoreState state);

  Shared* shared_;
  Slot* slots_;
  std::uint32_t count_;
  std::uint64_t quantum_;
  double patience_;
  // By slot: how often the state of a core that was passed had changed, plus one.
  std::unique_ptr<std::atomic<std::uint64_t>[]> passed_;
};

}  // namespace manynode::node
