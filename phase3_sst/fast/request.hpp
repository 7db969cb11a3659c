// A send or receive that a rank has started and not yet waited for.
#pragma once

#include <cstdint>

#include "manynode/call.hpp"
#include "pool.hpp"
#include "sim_time.hpp"

namespace manynode::fast {

struct Request {
  Picoseconds posted_at{0};
  Picoseconds complete_at{0};  // once `complete`
  std::uint64_t bytes{0};      // of a receive: its buffer, once matched its message
  std::uint32_t id{0};         // the number that Wait names
  std::int32_t rank{0};        // owner
  std::int32_t peer{0};
  std::int32_t tag{0};
  std::uint32_t before{kNone};  // among the requests of the rank, in the order in which they were started
  std::uint32_t after{kNone};
  std::uint32_t next{kNone};  // among the posted receives of the rank
  std::uint16_t context{0};
  bool receive{false};
  bool complete{false};
};

// The requests of one rank. A wait most often names the oldest request (waitall) or the youngest (a blocking call), so
// both ends are looked at first.
class RequestList {
 public:
  void add(Pool<Request>& pool, std::uint32_t index) {
    pool[index].before = youngest_;
    pool[index].after = kNone;
    (youngest_ == kNone ? oldest_ : pool[youngest_].after) = index;
    youngest_ = index;
  }

  // The request with this number, kNone when there is none.
  std::uint32_t find(const Pool<Request>& pool, std::uint32_t id) const {
    if (youngest_ != kNone && pool[youngest_].id == id) return youngest_;
    std::uint32_t index = oldest_;
    while (index != kNone && pool[index].id != id) index = pool[index].after;
    return index;
  }

  void remove(Pool<Request>& pool, std::uint32_t index) {
    const std::uint32_t before = pool[index].before;
    const std::uint32_t after = pool[index].after;
    (before == kNone ? oldest_ : pool[before].after) = after;
    (after == kNone ? youngest_ : pool[after].before) = before;
  }

 private:
  std::uint32_t oldest_{kNone};
  std::uint32_t youngest_{kNone};
};

}  // namespace manynode::fast
