// The requests that a rank's skeleton has started in the current step, by number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "event_sink.hpp"

namespace manynode::sst_element {

class Requests {
 public:
  void clear() {
    handles_.clear();
    states_.clear();
  }

  // The place for the handle of a message; valid until the next start().
  RequestHandle* start(std::uint32_t id) { return place(id, State::Active); }
  // For a message to or from MPI_PROC_NULL.
  void start_null(std::uint32_t id) { place(id, State::Null); }

  // The handles of the messages among `ids`, valid until the next call of a member. The requests then count as waited
  // for. Throws std::runtime_error for a request that was not started. A second wait on a request is an error, too.
  std::span<RequestHandle> take(std::span<const std::uint32_t> ids);

 private:
  enum class State : std::uint8_t { None, Null, Active };

  RequestHandle* place(std::uint32_t id, State state) {
    if (id >= handles_.size()) {
      handles_.resize(id + 1u);
      states_.resize(id + 1u);
    }
    states_[id] = state;
    return &handles_[id];
  }

  std::vector<RequestHandle> handles_;
  std::vector<State> states_;
  std::vector<RequestHandle> taken_;
};

}  // namespace manynode::sst_element
