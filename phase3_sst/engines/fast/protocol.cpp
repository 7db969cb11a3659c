// Messages: starting them, waiting for them, matching, and the eager and rendezvous protocols.
#include <algorithm>
#include <string>

#include "fetch_ahead.hpp"
#include "replica.hpp"
#include "simulation_error.hpp"

namespace manynode::network {

namespace {

Envelope envelope_of(const Message& message, std::uint32_t first_of_job) {
  return {static_cast<std::int32_t>(message.source - first_of_job), message.tag, message.context};
}

}  // namespace

std::uint32_t Replica::new_message(const Rank& rank, std::uint32_t index, const Primitive& primitive) {
  const std::uint32_t first = jobs_[rank.job].first;
  const std::uint32_t sent = network_.messages().take();
  Message& message = network_.messages()[sent];
  message.in_use = true;
  message.bytes = primitive.bytes;
  message.source = index;
  message.destination = first + static_cast<std::uint32_t>(primitive.peer);
  message.tag = primitive.tag;
  message.context = primitive.context;
  message.job = static_cast<std::uint8_t>(rank.job);
  const HostConfig& host = config_.network.host;
  const std::uint32_t rail = rail_of(index, message.destination);
  message.from_nic = host.nic(nodes_[index], rail);
  message.to_nic = host.nic(nodes_[message.destination], rail);
  return sent;
}

// Both ends use the NIC of the same number. Half a ring apart, the NIC's number decides which way a torus goes round:
// the NIC of the other direction then leads in the wanted one, which keeps the links of the ring balanced.
std::uint32_t Replica::rail_of(std::uint32_t index, std::uint32_t destination) {
  const HostConfig& host = config_.network.host;
  const std::uint32_t own = rails_[index];
  if (host.rails == 1 || nodes_[index] == nodes_[destination]) return own;
  if (host.rail_choice == RailChoice::ByMessage) {
    rails_[index] = static_cast<std::uint8_t>((own + 1) % host.rails);
    return own;
  }
  if (host.rail_choice != RailChoice::ByDirection) return own;
  const Topology& topology = *config_.network.topology;
  const auto direction = [&](std::uint32_t rail) {
    return topology.direction(host.nic(nodes_[index], rail), host.nic(nodes_[destination], rail));
  };
  const std::uint32_t wanted = direction(0);
  const std::uint32_t rail = wanted % host.rails;
  if (direction(rail) == wanted) return rail;
  const std::uint32_t other = (wanted ^ 1) % host.rails;
  return direction(other) == wanted ? other : rail;
}

void Replica::start_send(Rank& rank, std::uint32_t index, const Primitive& primitive, bool record_eager) {
  JobResult& result = result_.jobs[rank.job];
  rank.call_bytes += primitive.bytes;
  ++result.messages;
  result.bytes += primitive.bytes;

  const std::uint32_t sent = new_message(rank, index, primitive);
  Message& message = network_.messages()[sent];
  if (network_.overtakes() && message.from_nic != message.to_nic) {
    message.order = order_.next(message.source, message.destination);
  }
  if (primitive.bytes > most_unchecked_bytes_) [[unlikely]]
    check_length(rank, index, message);
  if (result.bytes > most_bytes_of_job_) [[unlikely]]
    refuse_bytes(message);
  // Times beyond the end of time get no event.
  rank.clock += overhead_send_.of(primitive.bytes);
  const bool rendezvous = primitive.bytes > config_.network.host.eager_limit_bytes;
  if (rendezvous) message.kind = MessageKind::RequestToSend;
  if (rendezvous || record_eager) {
    RequestTable& requests = mailboxes_[index].requests;
    message.send_request = requests.add();
    Request& request = requests[message.send_request];
    request.time = rank.clock;
    request.bytes = primitive.bytes;
    request.id = primitive.request;
    // The library has copied the data: the buffer is free again.
    request.complete = !rendezvous;
  }
  if (on_arrival_) note_send(rank, index, sent);
  network_.send(sent, rank.clock);
}

// The request of the origin keeps the bytes that will come back; it is a receive if there are any.
void Replica::start_remote(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  JobResult& result = result_.jobs[rank.job];
  const std::uint64_t bytes = primitive.bytes + primitive.returned;
  rank.call_bytes += bytes;
  result.messages += 2;
  result.bytes += bytes;
  const std::uint32_t sent = new_message(rank, index, primitive);
  Message& message = network_.messages()[sent];
  message.kind = MessageKind::RemoteRequest;
  if (std::max(primitive.bytes, primitive.returned) > most_unchecked_bytes_) [[unlikely]] {
    message.bytes = std::max(primitive.bytes, primitive.returned);
    check_length(rank, index, message);
    message.bytes = primitive.bytes;
  }
  if (result.bytes > most_bytes_of_job_) [[unlikely]]
    refuse_bytes(message);
  rank.clock += overhead_send_.of(primitive.bytes);
  RequestTable& requests = mailboxes_[index].requests;
  message.send_request = requests.add();
  Request& request = requests[message.send_request];
  request.time = rank.clock;
  request.bytes = primitive.returned;
  request.id = primitive.request;
  request.receive = primitive.returned > 0;
  if (on_arrival_) note_send(rank, index, sent);
  network_.send(sent, rank.clock);
}

void Replica::start_receive(Rank& rank, std::uint32_t index, const Primitive& primitive) {
  Mailbox& mailbox = mailboxes_[index];
  const Envelope envelope{primitive.peer, primitive.tag, primitive.context};
  const std::uint32_t number = mailbox.requests.add();
  Request& request = mailbox.requests[number];
  request.time = rank.clock;
  request.bytes = primitive.bytes;
  request.peer = envelope.peer;
  request.tag = envelope.tag;
  request.context = envelope.context;
  request.id = primitive.request;
  request.receive = true;
  const std::uint32_t message = mailbox.unexpected.take(envelope);
  if (message == kNone) {
    mailbox.posted.add(envelope, number);
  } else {
    match(message, number, rank.clock);
  }
}

void Replica::start_message(Rank& rank, std::uint32_t index, const Call& call) {
  const bool send = call.kind == CallKind::Isend;
  if (call.peer == kProcNull) return;
  const auto own = static_cast<std::int32_t>(index - jobs_[rank.job].first);
  const std::int32_t peer = absolute_peer(call.peer, own);
  const Primitive primitive{.kind = send ? PrimitiveKind::Isend : PrimitiveKind::Irecv,
                            .call = call.kind,
                            .context = point_to_point_context(call.communicator),
                            .peer = rank.communicators.world_rank(Communicator{call.communicator}, peer),
                            .tag = call.tag,
                            .request = call.first,
                            .bytes = call.bytes};
  if (send) {
    start_send(rank, index, primitive, false);
  } else {
    start_receive(rank, index, primitive);
  }
}

bool Replica::wait(Rank& rank, std::uint32_t index, std::span<const std::uint32_t> ids, CallKind call) {
  Mailbox& mailbox = mailboxes_[index];
  // Between the requests of a wait, a rank does nothing visible to others, so it need not wake for each.
  if (!rank.in_wait) {
    for (const std::uint32_t id : ids) {
      Request& request = mailbox.requests[slot_of(index, id, call)];
      if (request.complete) continue;
      request.awaited = true;
      ++mailbox.awaits;
    }
    rank.in_wait = mailbox.awaits > 0;
    if (rank.in_wait) return false;
  }
  rank.in_wait = false;
  completions_.clear();
  for (const std::uint32_t id : ids) {
    const std::uint32_t slot = mailbox.requests.find(id);
    const Request& request = mailbox.requests[slot];
    const bool pays = request.receive && !on_arrival_;
    completions_.push_back({request.time, pays ? overhead_receive_.of(request.bytes) : 0});
    mailbox.requests.remove(slot);
  }
  // The processor takes messages in order of arrival, whatever their order in the call.
  std::sort(completions_.begin(), completions_.end());
  for (const auto& [time, overhead] : completions_) {
    rank.clock = std::max(rank.clock, time) + overhead;
    if (rank.clock > kEndOfTime) [[unlikely]]
      end_of_time();
  }
  return true;
}

// A library waits for the messages of a step of a collective together: it takes them in order of arrival as well.
bool Replica::wait_for_primitives(Rank& rank, std::uint32_t index) {
  const CallKind call = rank.primitives[rank.next_primitive].call;
  waited_.clear();
  for (std::size_t next = rank.next_primitive; next < rank.primitives.size(); ++next) {
    if (rank.primitives[next].kind != PrimitiveKind::Wait) break;
    waited_.push_back(rank.primitives[next].request);
    if (on_arrival_) break;  // each is an operation with a turn of its own, and waiting costs nothing
  }
  const auto others = static_cast<std::uint32_t>(waited_.size() - 1);
  if (!wait(rank, index, waited_, call)) return false;
  rank.next_primitive += others;
  return true;
}

std::uint32_t Replica::slot_of(std::uint32_t index, std::uint32_t id, CallKind call) {
  const std::uint32_t slot = mailboxes_[index].requests.find(id);
  if (slot != kNone) return slot;
  throw SimulationError(
      "a rank waits for a request that it never started",
      {rank_name(index) + " waits in " + std::string(call_name(call)) + " for request " + std::to_string(id)},
      "the skeleton must start each request in the step in which it waits for it, and wait once");
}

void Replica::deliver(const Progress& progress) {
  if (progress.message == kNone) return;
  const std::uint32_t index = progress.message;
  const MessageKind kind = network_.messages()[index].kind;
  const bool for_processor = on_arrival_ && (kind == MessageKind::Eager || kind == MessageKind::Data);
  if (for_processor && progress.complete) bring_to_processor(index);
  if (for_processor && kind == MessageKind::Eager) return;
  if (progress.head && (kind == MessageKind::Eager || kind == MessageKind::RequestToSend)) {
    if (network_.overtakes()) {
      arrive_in_order(index);
    } else {
      arrive(index);
    }
  }
  if (kind == MessageKind::Eager && progress.head) return;  // settled when its head arrived, if it is complete

  if (!progress.complete || for_processor) return;
  // A copy, because a rank that continues may send, which invalidates references to messages.
  const Message message = network_.messages()[index];
  if (kind == MessageKind::ClearToSend) {
    network_.messages()[index].kind = MessageKind::Data;
    network_.send(index, message.complete_at);
  } else if (kind == MessageKind::Data) {
    network_.messages()[index].kind = MessageKind::Acknowledgement;
    network_.send(index, message.complete_at);
    complete(message.destination, message.receive_request, message.complete_at);
  } else if (kind == MessageKind::RemoteRequest) {
    Message& reply = network_.messages()[index];
    reply.kind = MessageKind::RemoteReply;
    reply.bytes = mailboxes_[message.source].requests[message.send_request].bytes;
    network_.send(index, message.complete_at);
  } else if (kind == MessageKind::Acknowledgement || kind == MessageKind::RemoteReply) {
    network_.messages().release(index);
    complete(message.source, message.send_request, message.complete_at);
  } else if (kind == MessageKind::Eager && message.receive_request != kNone) {
    network_.messages().release(index);
    complete(message.destination, message.receive_request, message.complete_at);
  }
}

void Replica::prefetch_receive(const Message& message) const {
  const Mailbox& mailbox = mailboxes_[message.destination];
  const std::uint32_t slot = message.receive_request != kNone
                                 ? message.receive_request
                                 : mailbox.posted.likely_slot(envelope_of(message, jobs_[mailbox.job].first));
  if (slot != kNone) fetch_ahead(&mailbox.requests[slot]);
}

void Replica::prefetch_receiver(std::uint32_t rank) const {
  const Mailbox& mailbox = mailboxes_[rank];
  // One of the last requests that the rank waits for; it will continue soon.
  if (mailbox.awaits > 2) return;
  ranks_[rank].fetch_program();
  mailbox.fetch_rest();
  // Its counts of sends, receives and waits.
  fetch_lines_ahead(&result_.jobs[mailbox.job].ranks[rank - jobs_[mailbox.job].first], 3);
}

void Replica::arrive_in_order(std::uint32_t index) {
  const Message& message = network_.messages()[index];
  if (message.from_nic == message.to_nic) {
    arrive(index);
    return;
  }
  order_.come(message.source, message.destination, message.order, index,
              [this](std::uint32_t present) { arrive(present); });
}

void Replica::arrive(std::uint32_t index) {
  const Message& message = network_.messages()[index];
  Mailbox& mailbox = mailboxes_[message.destination];
  const Envelope envelope = envelope_of(message, jobs_[mailbox.job].first);
  const std::uint32_t place = mailbox.posted.find(envelope, mailbox.requests);
  if (place == kNone) {
    mailbox.unexpected.add(envelope, index);
    return;
  }
  const std::uint32_t request = mailbox.posted.slot(place);
  mailbox.posted.remove(place);
  match(index, request, mailbox.requests[request].time);
}

void Replica::match(std::uint32_t index, std::uint32_t number, Picoseconds time) {
  Message& message = network_.messages()[index];
  const std::uint32_t receiver = message.destination;
  Request& request = mailboxes_[receiver].requests[number];
  if (message.bytes > request.bytes) {
    throw SimulationError("a message is longer than the receive that it meets",
                          {describe_message(message),
                           rank_name(receiver) + " receives at most " + std::to_string(request.bytes) + " bytes"},
                          "make the receive as large as the send (MPI_ERR_TRUNCATE)");
  }
  request.bytes = message.bytes;
  message.receive_request = number;
  if (message.kind == MessageKind::RequestToSend) {
    // NICs answer on their own, without the processor (asynchronous progress).
    const Picoseconds answer = std::max({time, message.complete_at, events_.now()});
    message.kind = MessageKind::ClearToSend;
    network_.send(index, answer);
  } else if (message.complete()) {
    const Picoseconds at = std::max(time, message.complete_at);
    network_.messages().release(index);
    complete(receiver, number, at);
  }
}

void Replica::complete(std::uint32_t index, std::uint32_t number, Picoseconds time) {
  Mailbox& mailbox = mailboxes_[index];
  Request& request = mailbox.requests[number];
  request.complete = true;
  request.time = time;
  if (!request.awaited) return;
  --mailbox.awaits;
  if (mailbox.awaits == 0) {
    advance(index);
    if (on_arrival_ && index != working_) work(index);
  } else if (mailbox.awaits == 1) {
    ranks_[index].fetch_calls();
    mailbox.requests.fetch();
  }
}

}  // namespace manynode::network
