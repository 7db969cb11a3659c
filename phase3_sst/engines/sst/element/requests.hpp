// The requests that a rank's skeleton has started in the current step, by number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "event_sink.hpp"
#include "sim_time.hpp"

namespace manynode::sst_element {

class Requests {
 public:
  void clear() {
    handles_.clear();
    states_.clear();
    owed_.clear();
  }

  // The place for the handle of a message; valid until the next start(). `owed`: what its wait costs the rank itself.
  RequestHandle* start(std::uint32_t id, network::Picoseconds owed = 0) { return place(id, State::Active, owed); }
  // For a message to or from MPI_PROC_NULL.
  void start_null(std::uint32_t id) { place(id, State::Null, 0); }

  // The handles of the messages among `ids`, those that owe something first, valid until the next call of a member. The
  // requests then count as waited for. Throws std::runtime_error for a request that was not started. A second wait on a
  // request is an error, too.
  std::span<RequestHandle> take(std::span<const std::uint32_t> ids);
  // Of the last take(): how many of the handles owe something, and what in all.
  std::size_t owing() const { return owing_; }
  network::Picoseconds sum_owed() const { return sum_owed_; }

 private:
  enum class State : std::uint8_t { None, Null, Active };

  RequestHandle* place(std::uint32_t id, State state, network::Picoseconds owed) {
    if (id >= handles_.size()) {
      handles_.resize(id + 1u);
      states_.resize(id + 1u);
      owed_.resize(id + 1u);
    }
    states_[id] = state;
    owed_[id] = owed;
    return &handles_[id];
  }

  std::vector<RequestHandle> handles_;
  std::vector<State> states_;
  std::vector<network::Picoseconds> owed_;
  std::vector<RequestHandle> taken_;
  std::size_t owing_{0};
  network::Picoseconds sum_owed_{0};
};

}  // namespace manynode::sst_element
