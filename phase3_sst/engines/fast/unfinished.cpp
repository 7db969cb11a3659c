// The report of a deadlocked run: waiting ranks, what they wait for, and messages that nobody received.
#include <string>

#include "replica.hpp"
#include "simulation_error.hpp"

namespace manynode::network {

namespace {

// A readable number of lines; the first ranks usually show the cause.
constexpr std::size_t kMostDetails = 10;

std::string peer_name(std::int32_t peer) {
  return peer == kAnySource ? std::string("any rank") : "rank " + std::to_string(peer);
}

// Even contexts carry a communicator's point-to-point messages, odd ones its collectives (primitive.hpp).
std::string envelope_text(std::int32_t tag, std::uint64_t bytes, std::uint16_t context) {
  return (tag == kAnyTag ? std::string("any tag") : "tag " + std::to_string(tag)) + ", " + std::to_string(bytes) +
         " bytes, context " + std::to_string(context);
}

}  // namespace

// The rank's number in its job; with the job's name if there are several.
std::string Replica::rank_name(std::uint32_t index) const {
  const Job& job = jobs_[ranks_[index].job];
  const std::string name = "rank " + std::to_string(index - job.first);
  return jobs_.size() == 1 ? name : name + " of job " + job.config->name;
}

std::string Replica::describe_message(const Message& message) const {
  return "message from " + rank_name(message.source) + " to " + rank_name(message.destination) + ", " +
         envelope_text(message.tag, message.bytes, message.context);
}

std::string Replica::describe_receive(std::uint32_t rank, std::uint32_t slot) const {
  const Request& request = mailboxes_[rank].requests[slot];
  return "receive of " + rank_name(rank) + " from " + peer_name(request.peer) + ", " +
         envelope_text(request.tag, request.bytes, request.context);
}

std::string Replica::describe_wait(std::uint32_t index) const {
  const Rank& rank = ranks_[index];
  const Mailbox& mailbox = mailboxes_[index];
  const CallKind call = rank.step->calls.calls[rank.next_call].kind;
  const std::string who =
      rank_name(index) + " waits in " + std::string(call_name(call)) + " (step " + std::to_string(rank.steps) + ") ";
  for (std::uint32_t i = 0; i < network_.messages().capacity(); ++i) {
    const Message& message = network_.messages()[i];
    if (!message.in_use || message.source != index || message.kind != MessageKind::RequestToSend) continue;
    if (message.receive_request != kNone) continue;
    const Request& request = mailbox.requests[message.send_request];
    if (!request.awaited || request.complete || request.receive) continue;
    return who + "for rank " + std::to_string(message.destination - jobs_[rank.job].first) +
           " to receive its message, " + envelope_text(message.tag, message.bytes, message.context);
  }
  const Request* first = nullptr;
  mailbox.posted.for_each_slot([&](std::uint32_t slot) {
    if (first == nullptr && mailbox.requests[slot].awaited) first = &mailbox.requests[slot];
  });
  if (first == nullptr) return who + "for a message that is under way";
  return who + "for a message from " + peer_name(first->peer) + ", " +
         envelope_text(first->tag, first->bytes, first->context);
}

std::vector<std::string> Replica::describe_unmatched(std::size_t most) const {
  std::vector<std::string> lines;
  for (const Mailbox& mailbox : mailboxes_) {
    for (const auto& entry : mailbox.unexpected) {
      if (lines.size() == most) return lines;
      lines.push_back("nobody received the " + describe_message(network_.messages()[entry.message]));
    }
  }
  for (std::uint32_t index = 0; index < mailboxes_.size(); ++index) {
    const Mailbox& mailbox = mailboxes_[index];
    mailbox.posted.for_each_slot([&](std::uint32_t slot) {
      // Messages that a rank waits for are reported with the rank.
      if (lines.size() == most || mailbox.requests[slot].awaited) return;
      lines.push_back("nobody sent to the " + describe_receive(index, slot));
    });
  }
  return lines;
}

void Replica::check_end() const {
  // Background jobs are stopped in the middle of their messages.
  if (foreground_ < ranks_.size() && finished_ == foreground_) return;
  std::vector<std::string> details;
  const std::uint32_t unfinished = foreground_ - finished_;
  for (std::uint32_t index = 0; unfinished > 0 && index < ranks_.size() && details.size() < kMostDetails; ++index) {
    if (mailboxes_[index].awaits > 0) details.push_back(describe_wait(index));
  }
  if (unfinished > details.size()) {
    details.push_back("... and " + std::to_string(unfinished - details.size()) + " more ranks");
  }
  const auto unmatched = describe_unmatched(kMostDetails);
  if (unfinished == 0 && unmatched.empty()) return;
  details.insert(details.end(), unmatched.begin(), unmatched.end());
  if (unfinished > 0) {
    throw SimulationError("the simulation ended with " + std::to_string(unfinished) + " unfinished ranks", details,
                          "look in the skeleton for a receive without its send, or for blocking sends above the eager "
                          "limit that wait for each other");
  }
  throw SimulationError("all ranks finished, but messages or receives are left without a partner", details,
                        "give each send of the skeleton its receive, with the same communicator and a tag that fits");
}

}  // namespace manynode::network
