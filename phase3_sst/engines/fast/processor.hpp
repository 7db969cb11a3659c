// The pending work of a rank's processor that receives messages itself on arrival (network.host.receive: on-arrival).
// This is LogGOPS as in LogGOPSim (Hoefler, Schneider and Lumsdaine, "LogGOPSim - Simulating Large-Scale Applications
// in the LogGOPS Model", 2010). The processor does one task at a time, and takes the one that can begin first. Ties go
// to the task that has waited longest: an operation since the previous operation began, a message since its sending
// began. Only the operations Compute and Send need the processor; Post takes no time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sim_time.hpp"

namespace manynode::network {

// The rank's next operation on the processor.
enum class Operation : std::uint8_t { None, Post, Compute, Send };

class Processor {
 public:
  struct Task {
    Picoseconds start{0};
    std::uint64_t age{0};  // a smaller number is older
    bool message{false};

    bool operator==(const Task&) const = default;
  };

  // The rank's next operation; Post may begin at `ready`, even if the processor is busy.
  void plan(Operation operation, Picoseconds ready, std::uint64_t age) {
    operation_ = operation;
    ready_ = ready;
    age_ = age;
  }

  void add_message(std::uint64_t age, std::uint32_t message) {
    messages_.emplace_back(age, message);
    std::push_heap(messages_.begin(), messages_.end(), std::greater<>());
  }

  // The next task, not before `now`, if the processor is free from `free` on.
  std::optional<Task> next(Picoseconds now, Picoseconds free) const {
    std::optional<Task> task;
    if (operation_ != Operation::None) {
      Picoseconds start = std::max(now, ready_);
      if (operation_ != Operation::Post) start = std::max(start, free);
      if (operation_ == Operation::Send) start = std::max(start, next_send_);
      task = Task{start, age_, false};
    }
    if (!messages_.empty()) {
      const Task take{std::max({now, free, next_receive_}), messages_.front().first, true};
      if (!task || take.start < task->start || (take.start == task->start && take.age < task->age)) task = take;
    }
    return task;
  }

  Operation take_operation() { return std::exchange(operation_, Operation::None); }

  std::uint32_t take_message() {
    std::pop_heap(messages_.begin(), messages_.end(), std::greater<>());
    const std::uint32_t message = messages_.back().second;
    messages_.pop_back();
    return message;
  }

  // The time from which the NIC sends or receives another message.
  void keep_sending_until(Picoseconds time) { next_send_ = time; }
  void keep_receiving_until(Picoseconds time) { next_receive_ = time; }

  // True if `task` needs an event: `wake` is its number, and earlier events become void.
  bool arm(const Task& task) {
    if (armed_ == task) return false;
    armed_ = task;
    ++wake_;
    return true;
  }
  std::uint32_t wake() const { return wake_; }
  void disarm() { armed_.reset(); }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> messages_;  // age, message: a heap, the oldest in front
  Picoseconds ready_{0};
  std::uint64_t age_{0};
  Picoseconds next_send_{0};
  Picoseconds next_receive_{0};
  std::optional<Task> armed_;
  std::uint32_t wake_{0};
  Operation operation_{Operation::None};
};

// A processor's next task, or a message that comes to its receiver's processor. Ties go to the oldest turn.
struct Turn {
  std::uint64_t age{0};
  std::uint32_t subject{0};  // rank or message
  std::uint32_t wake{0};     // of the rank's processor
  bool message{false};

  bool operator>(const Turn& other) const { return age > other.age; }
};

}  // namespace manynode::network
