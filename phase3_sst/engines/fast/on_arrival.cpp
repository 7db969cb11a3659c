// The part of the event loop in which processors receive messages on arrival (processor.hpp).
#include <algorithm>
#include <optional>
#include <utility>

#include "replica.hpp"

namespace manynode::network {

// Whatever the rank does first.
void Replica::plan_start(std::uint32_t index) {
  processors_[index].plan(Operation::Post, ranks_[index].clock, ages_++);
  arm(index, processors_[index].next(0, 0));
}

bool Replica::its_turn(Rank& rank, std::uint32_t index, Operation operation) {
  if (operation == Operation::None) return true;
  if (std::exchange(rank.has_turn, false)) return true;
  processors_[index].plan(operation, rank.clock, ages_++);
  return false;
}

void Replica::note_send(const Rank& rank, std::uint32_t index, std::uint32_t message) {
  const Message& sent = network_.messages()[message];
  const Picoseconds begin = rank.clock - overhead_send_.of(sent.bytes);
  processors_[index].keep_sending_until(begin + network_.gap() + network_.bytes_time(sent));
  if (message >= message_ages_.size()) message_ages_.resize(network_.messages().capacity());
  message_ages_[message] = ages_++;
}

namespace {

// The event of a turn stores it in place of the chunk.
Event event_of(const Turn& turn) {
  return Event{.subject = turn.subject,
               .from = static_cast<std::uint32_t>(turn.age >> 32),
               .to = static_cast<std::uint32_t>(turn.age),
               .link = turn.wake,
               .kind = EventKind::Resume,
               .alone = turn.message};
}

Turn turn_of(const Event& event) {
  return {.age = std::uint64_t{event.from} << 32 | event.to,
          .subject = event.subject,
          .wake = event.link,
          .message = event.alone};
}

}  // namespace

// Events of equal time come in order of creation, but turns must come in order of age. All turns of a time are
// therefore gathered, and each event takes the oldest, not its own.
void Replica::add_turn(const Turn& turn, Picoseconds time) {
  events_.push(event_of(turn), time);
  if (time == turns_time_) turns_.push(turn);
}

void Replica::gather_turns() {
  if (turns_time_ == events_.now()) return;
  turns_time_ = events_.now();
  const Event* other = nullptr;
  for (std::size_t i = 0; (other = events_.upcoming(i)) && other->time == turns_time_; ++i) {
    if (other->kind == EventKind::Resume) turns_.push(turn_of(*other));
  }
}

void Replica::take_turn(const Event& event) {
  if (turns_time_ != event.time) turns_.push(turn_of(event));
  gather_turns();
  const Turn turn = turns_.top();
  turns_.pop();
  if (turn.message) {
    const std::uint32_t receiver = network_.messages()[turn.subject].destination;
    processors_[receiver].add_message(turn.age, turn.subject);
    work(receiver);
  } else if (turn.wake == processors_[turn.subject].wake()) {
    processors_[turn.subject].disarm();
    work(turn.subject);
  }
}

void Replica::work(std::uint32_t index) {
  working_ = index;
  gather_turns();
  const Picoseconds now = events_.now();
  std::optional<Processor::Task> task;
  // As long as the next turn would be this processor's own.
  while ((task = processors_[index].next(now, ranks_[index].clock)) && task->start == now &&
         (turns_.empty() || turns_.top().age > task->age)) {
    perform(index, *task);
  }
  working_ = kNone;
  arm(index, task);
}

void Replica::arm(std::uint32_t index, const std::optional<Processor::Task>& task) {
  Processor& processor = processors_[index];
  if (task && processor.arm(*task)) add_turn({task->age, index, processor.wake(), false}, task->start);
}

void Replica::perform(std::uint32_t index, const Processor::Task& task) {
  Rank& rank = ranks_[index];
  Processor& processor = processors_[index];
  if (task.message) {
    take_in(rank, processor);
    return;
  }
  if (processor.take_operation() != Operation::Post) rank.clock = std::max(rank.clock, task.start);
  rank.has_turn = true;
  advance(index);
}

void Replica::bring_to_processor(std::uint32_t index) {
  const Message& message = network_.messages()[index];
  // The last byte is received when it has arrived.
  const Picoseconds ready = std::max(events_.now(), message.complete_at - network_.bytes_time(message));
  add_turn({message_ages_[index], index, 0, true}, ready);
}

void Replica::take_in(Rank& rank, Processor& processor) {
  const std::uint32_t index = processor.take_message();
  Message& message = network_.messages()[index];
  const Picoseconds now = events_.now();
  const Picoseconds bytes_time = network_.bytes_time(message);
  processor.keep_receiving_until(now + network_.gap() + bytes_time);
  rank.clock = later(now, bytes_time);
  spend(rank, message.destination, overhead_receive_.of(message.bytes), Spent::Receive, message.bytes);
  message.complete_at = rank.clock;
  if (message.kind == MessageKind::Data) {
    const Message whole = message;
    message.kind = MessageKind::Acknowledgement;
    network_.send(index, whole.complete_at);
    complete(whole.destination, whole.receive_request, whole.complete_at);
  } else if (network_.overtakes()) {
    arrive_in_order(index);
  } else {
    arrive(index);
  }
}

}  // namespace manynode::network
