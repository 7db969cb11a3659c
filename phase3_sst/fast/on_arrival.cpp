// The event loop's part where processors take messages in as they come (processor.hpp).
#include <algorithm>
#include <utility>

#include "replica.hpp"

namespace manynode::fast {

// Whatever the rank does first.
void Replica::plan_start(std::uint32_t index) {
  processors_[index].plan(Operation::Post, ranks_[index].clock, ages_++);
  arm(index);
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

// Events of equal time come in the order of their making, turns in that of their ages: there is an event for each turn,
// and it brings the next one, not its own.
void Replica::add_turn(const Turn& turn) {
  turns_.push(turn);
  events_.push(Event{}, turn.time);
}

void Replica::take_turn() {
  const Turn turn = turns_.top();
  turns_.pop();
  if (!turn.message) {
    serve(turn);
    return;
  }
  const std::uint32_t receiver = network_.messages()[turn.subject].destination;
  processors_[receiver].add_message(turn.age, turn.subject);
  arm(receiver);
}

void Replica::arm(std::uint32_t index) {
  Processor& processor = processors_[index];
  const auto task = processor.next(events_.now(), ranks_[index].clock);
  if (task && processor.arm(*task)) add_turn({task->start, task->age, index, processor.wake(), false});
}

void Replica::serve(const Turn& turn) {
  const std::uint32_t index = turn.subject;
  Processor& processor = processors_[index];
  if (turn.wake != processor.wake()) return;
  Rank& rank = ranks_[index];
  processor.disarm();
  if (processor.next(turn.time, rank.clock)->message) {
    take_in(rank, processor);
  } else {
    if (processor.take_operation() != Operation::Post) rank.clock = std::max(rank.clock, turn.time);
    rank.has_turn = true;
    advance(index);
  }
  arm(index);
}

void Replica::bring_to_processor(std::uint32_t index) {
  const Message& message = network_.messages()[index];
  // So that the last byte comes in when it has come.
  const Picoseconds ready = std::max(events_.now(), message.complete_at - network_.bytes_time(message));
  add_turn({ready, message_ages_[index], index, 0, true});
}

void Replica::take_in(Rank& rank, Processor& processor) {
  const std::uint32_t index = processor.take_message();
  Message& message = network_.messages()[index];
  const Picoseconds now = events_.now();
  const Picoseconds bytes_time = network_.bytes_time(message);
  processor.keep_receiving_until(now + network_.gap() + bytes_time);
  rank.clock = now + bytes_time + overhead_receive_.of(message.bytes);
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

}  // namespace manynode::fast
