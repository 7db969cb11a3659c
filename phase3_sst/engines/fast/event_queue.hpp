// The pending events in order of time: a ladder queue (Tang, Goh and Thng, "Ladder queue: an O(1) priority queue
// structure for large-scale discrete event simulation", 2005). A heap of millions of events costs several cache misses
// per event; here an event is copied two or three times, each time to the end of a block.
//
// - bottom: the next events, sorted; pop() takes them from its front. Upcoming events are known, and their data can be
//   prefetched from memory;
// - rungs: buckets of equal width; each rung divides one bucket of the previous rung that had too many events;
// - top: the events behind the last rung, unsorted.
//
// Events of equal time come out in the order in which they went in, which makes a run deterministic: all events of one
// time are always in the same container, and containers keep the order of arrival.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim_time.hpp"

namespace manynode::network {

enum class EventKind : std::uint8_t {
  Resume,         // rank `subject` goes on; where processors take messages in as they come, some turn is due
  Inject,         // chunk `chunk` of message `subject` is ready at its NIC
  InjectGranted,  // the same for a first chunk that has waited for the gap
  Hop,            // chunk `chunk` of message or flight `subject` is ready at link `hop` of its route
  IntranodeHead,  // the first bytes of message `subject` reach a rank of the same node
  // With flow control (credit_fabric.hpp):
  PacketArrives,  // the head of packet `subject` is in the buffer behind a link
  LinkFree,       // link `subject` may start a packet
};

// The event has all data that a chunk needs on its way: the message, which lies far away in memory, is accessed only at
// its start and its end.
struct Event {
  Picoseconds time{0};
  std::uint32_t subject{0};
  std::uint32_t bytes{0};  // of the chunk
  std::uint32_t from{0};   // NICs, in the direction of travel
  std::uint32_t to{0};
  std::uint32_t link{0};  // on a fixed route: the link that the chunk has come to, before that the first one
  std::uint8_t hop{0};    // its place in the route
  std::uint8_t hops{0};   // links of the route
  EventKind kind : 3 {EventKind::Resume};
  std::uint8_t job : 5 {0};
  std::uint8_t chunk : 7 {0};
  bool alone : 1 {false};  // the only chunk of its leg
};

static_assert(sizeof(Event) == 32);

class EventQueue {
 public:
  EventQueue() { rungs_.resize(kMostRungs); }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // The time of the event that was popped last.
  Picoseconds now() const { return now_; }

  // Adds a copy of `event` at `time`, not before now(); throws EndOfTime. The copy may be changed in place (but not its
  // time) until the next push or pop. Changing `event` before the call would be slower: it would be read while parts of
  // it are still being written.
  Event& push(const Event& event, Picoseconds time) {
    if (time > kEndOfTime) [[unlikely]]
      end_of_time();
    ++size_;
    Event& place_in_queue = time < bottom_end_ ? insert(time) : place(time);
    place_in_queue = event;
    place_in_queue.time = time;
    return place_in_queue;
  }

  // The queue must not be empty.
  Event pop() {
    while (bottom_.size() - head_ <= kAhead && bottom_.size() - head_ < size_) fill();
    --size_;
    const Event event = bottom_[head_++];
    now_ = event.time;
    return event;
  }

  // The queue knows at least this many upcoming events, if there are as many.
  static constexpr std::size_t kAhead = 64;

  // The event `ahead` places after the next one; null if it is not known.
  const Event* upcoming(std::size_t ahead) const {
    return head_ + ahead < bottom_.size() ? &bottom_[head_ + ahead] : nullptr;
  }

 private:
  static constexpr unsigned kMostBucketsLog2 = 10;
  static constexpr std::size_t kMostBuckets = std::size_t{1} << kMostBucketsLog2;
  static constexpr std::size_t kMostRungs = 16;
  // A bucket with more events gets its own rung; so does a bottom that exceeds the second limit.
  static constexpr std::size_t kSortable = 64;
  static constexpr std::size_t kLongBottom = 192;
  static constexpr std::uint32_t kNoBlock = 0xffffffffu;

  static constexpr std::uint32_t kPerBlock = 31;

  // Filled from the front; all but the last block of a bucket are full.
  struct alignas(64) Block {
    std::array<Event, kPerBlock> events;
    std::uint32_t next;
  };

  struct Bucket {
    std::uint32_t first{kNoBlock};
    std::uint32_t last{kNoBlock};
    std::uint32_t count{0};
  };

  struct Rung {
    Picoseconds start{0};
    Picoseconds end{0};
    unsigned shift{0};       // log2 of a bucket's width
    std::size_t next{0};     // the first bucket not yet taken
    std::size_t buckets{0};  // in use
    std::array<std::uint64_t, kMostBuckets / 64> filled{};
    std::array<Bucket, kMostBuckets> bucket;

    // The first bucket with events, from `next` on; `buckets` when there is none.
    std::size_t first_filled() const;
  };

  // These return space for an event.
  Event& insert(Picoseconds time);
  Event& place(Picoseconds time);
  Event& put(Rung& rung, Picoseconds time);
  Event& append(Bucket& bucket);
  void divide_bottom();
  // Brings the events of the next bucket into the bottom.
  void fill();
  // Makes a rung for [start, end) and `count` events.
  Rung& add_rung(Picoseconds start, Picoseconds end, std::size_t count);
  // Calls visit(block, events in it) for each block, which is free afterwards.
  template <typename Visit>
  void empty_out(const Bucket& bucket, const Visit& visit);
  void spread(const Bucket& bucket, Rung& rung);
  // `one_time`: all events have the same time and need no sorting.
  void add_to_bottom(const Bucket& bucket, bool one_time);
  void fetch_block(std::uint32_t index) const;

  std::vector<Event> bottom_;
  std::size_t head_{0};
  Picoseconds bottom_end_{0};  // every event before it is in the bottom
  std::vector<Rung> rungs_;
  std::size_t depth_{0};  // rungs in use
  Bucket top_;
  Picoseconds top_least_{0};
  Picoseconds top_greatest_{0};
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> free_blocks_;
  std::size_t size_{0};
  Picoseconds now_{0};
};

}  // namespace manynode::network
