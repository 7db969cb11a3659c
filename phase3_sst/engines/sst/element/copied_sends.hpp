// Short messages to ranks of the own node: the library has copied them, and nobody waits for them. firefly completes a
// send within a node only when the receiver has matched it, and its handle has to be given back then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "event_sink.hpp"

namespace manynode::sst_element {

class CopiedSends {
 public:
  // The place for the handle of a further one.
  RequestHandle* start() {
    ++fresh_;
    return &sends_.emplace_back().handle;
  }

  // Requests events that give back the oldest ones, as far as they are complete: one more than were started since. None
  // is looked at twice before looked(), because its handle may be gone.
  void look(EventSink& sink) {
    const std::size_t end = std::min(sends_.size(), asked_ + fresh_ + 1);
    for (; asked_ < end; ++asked_) sink.test(&sends_[asked_].handle, &sends_[asked_].complete);
    fresh_ = 0;
  }

  // The events of look() have happened.
  void looked() {
    asked_ = 0;
    std::erase_if(sends_, [](const Send& send) { return send.complete != 0; });
  }

 private:
  struct Send {
    RequestHandle handle{nullptr};
    int complete{0};
  };

  std::deque<Send> sends_;
  std::size_t fresh_{0};  // started since the last look
  std::size_t asked_{0};  // of the oldest, looked at since looked()
};

}  // namespace manynode::sst_element
