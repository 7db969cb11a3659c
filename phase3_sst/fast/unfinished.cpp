// The account of a run that came to a standstill: which ranks wait, for what, and which messages nobody received.
#include <string>

#include "replica.hpp"
#include "simulation_error.hpp"

namespace manynode::fast {

namespace {

// As many lines as a person reads; the first ranks usually tell the story.
constexpr std::size_t kMostDetails = 10;

std::string peer_name(std::int32_t peer) {
  return peer == kAnySource ? std::string("any rank") : "rank " + std::to_string(peer);
}

// Even contexts carry a communicator's point-to-point messages, odd ones its collectives (primitive.hpp).
std::string envelope(std::int32_t tag, std::uint64_t bytes, std::uint16_t context) {
  return (tag == kAnyTag ? std::string("any tag") : "tag " + std::to_string(tag)) + ", " + std::to_string(bytes) +
         " bytes, context " + std::to_string(context);
}

}  // namespace

std::string Replica::describe_message(const Message& message) const {
  return "message from rank " + std::to_string(message.source) + " to rank " + std::to_string(message.destination) +
         ", " + envelope(message.tag, message.bytes, message.context);
}

std::string Replica::describe_receive(const Request& request) const {
  return "receive of rank " + std::to_string(request.rank) + " from " + peer_name(request.peer) + ", " +
         envelope(request.tag, request.bytes, request.context);
}

std::string Replica::describe_wait(std::uint32_t index) const {
  const Rank& rank = ranks_[index];
  const Request& request = requests_[rank.waits_for];
  const auto& primitive = rank.primitives[rank.next_primitive];
  const std::string who = "rank " + std::to_string(index) + " waits in " + std::string(call_name(primitive.call)) +
                          " (step " + std::to_string(rank.steps) + ") ";
  const std::string what = envelope(request.tag, request.bytes, request.context);
  if (request.receive) return who + "for a message from " + peer_name(request.peer) + ", " + what;
  return who + "for " + peer_name(request.peer) + " to receive its message, " + what;
}

std::vector<std::string> Replica::describe_unmatched(std::size_t most) const {
  std::vector<std::string> lines;
  for (const Rank& rank : ranks_) {
    for (auto i = rank.unexpected.head; i != kNone; i = network_.messages()[i].next) {
      if (lines.size() == most) return lines;
      lines.push_back("nobody received the " + describe_message(network_.messages()[i]));
    }
  }
  for (const Rank& rank : ranks_) {
    for (auto i = rank.posted.head; i != kNone; i = requests_[i].next) {
      if (lines.size() == most) return lines;
      // What a rank waits for is told with the rank.
      if (i != rank.waits_for) lines.push_back("nobody sent to the " + describe_receive(requests_[i]));
    }
  }
  return lines;
}

void Replica::check_end() const {
  std::vector<std::string> details;
  const std::uint32_t unfinished = size_ - finished_;
  for (std::uint32_t index = 0; unfinished > 0 && index < size_ && details.size() < kMostDetails; ++index) {
    if (ranks_[index].waits_for != kNone) details.push_back(describe_wait(index));
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

}  // namespace manynode::fast
