// The pending events in order of time: a 4-ary heap of 24-byte records. Events of equal time come out in the order in
// which they went in, so that a run is deterministic. Four children per node fit two cache lines and halve the depth of
// a binary heap, which is what counts when the heap has outgrown the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim_time.hpp"

namespace manynode::fast {

enum class EventKind : std::uint8_t {
  Resume,         // rank `subject` goes on
  Inject,         // chunk `chunk` of message `subject` is ready at its NIC
  InjectGranted,  // the same for a first chunk that has waited for the gap
  Hop,            // chunk `chunk` of message `subject` is ready at link `hop` of its route
  IntranodeHead,  // the first bytes of message `subject` reach a rank of the same node
};

struct Event {
  Picoseconds time;
  std::uint64_t sequence;
  std::uint32_t subject;
  std::uint16_t hop;
  std::uint8_t chunk;
  EventKind kind;
};

static_assert(sizeof(Event) == 24);

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }

  // The time of the event that was popped last.
  Picoseconds now() const { return now_; }

  // `time` is not before now().
  void push(Picoseconds time, EventKind kind, std::uint32_t subject, std::uint8_t chunk = 0, std::uint16_t hop = 0) {
    const Event event{time, next_sequence_++, subject, hop, chunk, kind};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!before(event, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  Event pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    now_ = first.time;
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;

  static bool before(const Event& a, const Event& b) {
    return a.time < b.time || (a.time == b.time && a.sequence < b.sequence);
  }

  // Places `event` in the heap whose root is free.
  void sink(const Event& event) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = hole * kChildren + 1;
      if (first >= size) break;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(heap_[child], heap_[least])) least = child;
      }
      if (!before(heap_[least], event)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
  std::uint64_t next_sequence_{0};
  Picoseconds now_{0};
};

}  // namespace manynode::fast
