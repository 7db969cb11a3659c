// One rank of a simulated node: its cores, and what happens at its marks. A front end drives it: it hands over blocks
// and accesses of each thread, and the marks of the rank's main thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../marks.h"
#include "clocks.hpp"
#include "core.hpp"
#include "run_file.hpp"
#include "shared_memory.hpp"

namespace manynode::node {

// One thread of a rank, and the core that it runs on. The front end keeps `block` and `next`.
struct Thread {
  bool timed = false;
  bool blocked = false;
  std::unique_ptr<Core> core;
  std::uint32_t slot = 0;
  const Block* block = nullptr;    // that is being executed
  std::size_t next = 0;            // its first piece that has not run
  std::uint64_t next_advance = 0;  // ticks of the clock at which the others are looked at
  CoreCounts counted;              // without a core (RunFile::counts_only)
};

class Rank {
 public:
  // Throws std::runtime_error where the shared memory cannot be mapped or the other ranks do not come.
  Rank(RunFile run, std::uint32_t world_rank, mn_page* page);

  // The main thread's marks.
  void start();
  void stop(bool blind);
  void look() { clocks_->look(main_.slot); }
  void looked_in_vain();
  void leave();
  void inject(std::uint64_t address, std::uint64_t bytes, bool write);

  Thread& main_thread() { return main_; }
  // A thread that the rank has started while it computes; nullptr if it has more than the run's `threads`.
  Thread* add_thread();
  // A thread may wait for another one; it goes on; it lets others go on.
  void thread_blocks(Thread& thread);
  void thread_goes_on(Thread& thread);
  void thread_wakes(Thread& thread);
  void thread_ends(Thread& thread);

  // Runs pieces of the thread's block up to `end`, and keeps its clock with the others'.
  void run(Thread& thread, std::size_t end);
  // The thread goes on to `block` (nullptr: unknown).
  void enter(Thread& thread, const Block* block) {
    const Block* const before = thread.block;
    Core* const core = thread.core.get();
    if (before != nullptr && core == nullptr) return enter_counted(thread, block);
    const std::size_t next = thread.next;
    thread.block = block;
    thread.next = 0;
    if (before == nullptr) return;
    core->finish(*before, next, block == nullptr ? before->next_address : block->address);
    if (__builtin_expect(core->now() / kTick >= thread.next_advance, 0)) synchronise(thread);
  }

  // What the run was like, as JSON text (`node-report/1`); the front end adds the instructions it does not know.
  std::string report(std::uint64_t unknown_instructions) const;
  const std::string& directory() const { return run_.directory; }
  std::uint32_t world_rank() const { return world_rank_; }

 private:
  void enter_counted(Thread& thread, const Block* block);
  void synchronise(Thread& thread);
  static constexpr int kCounters = 15;
  std::array<std::uint64_t, kCounters + kCauses> values() const;
  void name_counters();

  RunFile run_;
  std::uint32_t world_rank_, local_;
  mn_page* page_;
  SharedMemory shared_, own_;
  std::unique_ptr<Clocks> clocks_;
  std::unique_ptr<Uncore> uncore_;
  FirstTouch pages_;
  Thread main_;
  std::vector<std::unique_ptr<Thread>> others_;
  std::vector<Thread*> ended_;  // their cores are free for the next threads
  mutable std::mutex threads_mutex_;
  std::uint32_t threads_ = 1;
  std::uint64_t threads_too_many_ = 0, phases_ = 0, injected_ = 0;
  std::atomic<std::uint64_t> latest_{0};  // stamp up to which some thread of the rank has come when it blocked
  std::array<std::uint64_t, kCounters + kCauses> at_start_{};
  bool left_ = false;
};

}  // namespace manynode::node
